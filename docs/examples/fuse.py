"""fuse.py KERNELS.cl: fuses two kernels and runs them on arrays of NumPy, cell by cell as in a notebook."""
# %% The kernels, and their arguments
import sys

import numpy
import spvfuse

context = spvfuse.Context()
module = context.load(sys.argv[1])
for kernel in module.kernels.values():
    print(kernel.name, *(argument.name for argument in kernel.args))

# %% Can they be fused?  `slope` reads what other work-groups of `scale` write
scale = spvfuse.Member(module, "scale", 4096, 64)
same = [((0, 2), (1, 0))]  # what the first one writes is what the second one reads
for second in "add", "slope":
    member = spvfuse.Member(module, second, 4096, 64)
    print(context.explain([scale, member], same=same).splitlines()[0])

# %% Run them as one kernel, on arrays that are not copied
device = context.device("cpu")
program = device.program(module)
x = numpy.arange(4096, dtype=numpy.float32)
y, z = numpy.ones_like(x), numpy.empty_like(x)
between = device.internal(x.nbytes)  # nothing else needs it, so it is never allocated
graph = device.graph()
first = graph.launch(program["scale"], x.size, 2.0, x, between)
graph.launch(program["add"], x.size, between, y, z)
graph.commit()
print("launches that became one kernel:", graph.kernels[0][1])

# %% Change a value, and run again
for a in 1, 2, 3:
    graph.set_value(first, 0, a)
    graph.run()
    assert numpy.array_equal(z, a * x + y)
    print(f"{a} * {x[10]:g} + {y[10]:g} = {z[10]:g}")

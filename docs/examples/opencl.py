"""opencl.py KERNELS.cl: the same two kernels from Python, with pyopencl, which loads spvfuse as any
other OpenCL implementation."""
import sys

import numpy
import pyopencl as cl

context = cl.Context(cl.get_platforms()[0].get_devices())
queue = cl.CommandQueue(context)
with open(sys.argv[1]) as source:
    program = cl.Program(context, source.read()).build()

x = numpy.arange(4096, dtype=numpy.float32)
y = numpy.ones_like(x)
z = numpy.empty_like(x)
flags = cl.mem_flags.COPY_HOST_PTR
x_buffer = cl.Buffer(context, flags | cl.mem_flags.READ_ONLY, hostbuf=x)
y_buffer = cl.Buffer(context, flags | cl.mem_flags.READ_ONLY, hostbuf=y)
z_buffer = cl.Buffer(context, cl.mem_flags.READ_WRITE, z.nbytes)

program.scale(queue, x.shape, (64,), numpy.float32(2), x_buffer, z_buffer)
program.add(queue, x.shape, (64,), z_buffer, y_buffer, z_buffer)
cl.enqueue_copy(queue, z, z_buffer)

assert numpy.array_equal(z, 2 * x + y)
print(f"2 * {x[10]:g} + {y[10]:g} = {z[10]:g}")

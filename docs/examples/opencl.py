"""opencl.py KERNELS.cl: the same two kernels from Python, with pyopencl, which loads spvfuse as any other
OpenCL implementation.  They are launched one after the other, and then by a command buffer, which
spvfuse makes into one kernel; pyopencl has no names for those functions, so ctypes calls them."""
import ctypes
import sys

import numpy
import pyopencl as cl

platform = cl.get_platforms()[0]
context = cl.Context(platform.get_devices())
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

scale, add = program.scale, program.add
scale(queue, x.shape, (64,), numpy.float32(2), x_buffer, z_buffer)
add(queue, x.shape, (64,), z_buffer, y_buffer, z_buffer)
cl.enqueue_copy(queue, z, z_buffer)
assert numpy.array_equal(z, 2 * x + y)

library = ctypes.CDLL("libOpenCL.so.1")
find = library.clGetExtensionFunctionAddressForPlatform
find.restype, find.argtypes = ctypes.c_void_p, (ctypes.c_void_p, ctypes.c_char_p)


def entry(name, result, *arguments):
    return ctypes.CFUNCTYPE(result, *arguments)(find(platform.int_ptr, name))


p, n = ctypes.c_void_p, ctypes.c_uint32
create = entry(b"clCreateCommandBufferKHR", p, n, p, p, p)
record = entry(b"clCommandNDRangeKernelKHR", n, p, p, p, p, n, p, p, p, n, p, p, p)
finalize = entry(b"clFinalizeCommandBufferKHR", n, p)
enqueue = entry(b"clEnqueueCommandBufferKHR", n, n, p, p, n, p, p)
release = entry(b"clReleaseCommandBufferKHR", n, p)

scale.set_args(numpy.float32(3), x_buffer, z_buffer)  # a command buffer keeps the arguments of now
size, local = (ctypes.c_size_t * 1)(x.size), (ctypes.c_size_t * 1)(64)
commands = create(1, ctypes.byref(p(queue.int_ptr)), None, None)
scaled, added = n(), n()
record(commands, None, None, scale.int_ptr, 1, None, size, local, 0, None, ctypes.byref(scaled), None)
record(commands, None, None, add.int_ptr, 1, None, size, local, 1, ctypes.byref(scaled), ctypes.byref(added), None)
assert finalize(commands) == 0
for run in range(3):
    assert enqueue(0, None, commands, 0, None, None) == 0
cl.enqueue_copy(queue, z, z_buffer)
release(commands)
assert numpy.array_equal(z, 3 * x + y)
print(f"3 * {x[10]:g} + {y[10]:g} = {z[10]:g}")

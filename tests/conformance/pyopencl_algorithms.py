"""pyopencl_algorithms.py — what pyopencl makes kernels for: arrays, reductions, scans, sorts,
random numbers, compared with numpy.  Prints "passed 1" or "failed 1: NAME" for each.

pyopencl's own tests are not in its package.
"""
import sys
import traceback
import warnings

import numpy as np
import pyopencl as cl
import pyopencl.array as cl_array
import pyopencl.clmath as clmath
from pyopencl.algorithm import RadixSort, copy_if, partition, unique
from pyopencl.bitonic_sort import BitonicSort
from pyopencl.clrandom import PhiloxGenerator, ThreefryGenerator
from pyopencl.elementwise import ElementwiseKernel
from pyopencl.reduction import ReductionKernel
from pyopencl.scan import ExclusiveScanKernel, GenericScanKernel, InclusiveScanKernel

SIZES = 1, 2, 63, 64, 1000, 4097, 70001
warnings.simplefilter("ignore")
context = cl.create_some_context(interactive=False)
queue = cl.CommandQueue(context)
random = np.random.default_rng(1)


def on_device(values):
    return cl_array.to_device(queue, values)


def integers(n, dtype=np.int32):
    return random.integers(0, 1000, n).astype(dtype)


def elementwise():
    axpy = ElementwiseKernel(context, "double a, double *x, double *y",
                             "y[i] = a * x[i] + y[i]", "axpy")
    for n in SIZES:
        x, y = random.random(n), random.random(n)
        there = on_device(y)
        axpy(2.5, on_device(x), there)
        np.testing.assert_allclose(there.get(), 2.5 * x + y, rtol=1e-14)


def arithmetic():
    for dtype in np.int8, np.uint16, np.int32, np.uint64, np.float32, np.float64, np.complex64:
        x, y = integers(1000).astype(dtype), (integers(1000) % 100 + 1).astype(dtype)
        a, b = on_device(x), on_device(y)
        np.testing.assert_array_equal((a + b * a - 3).get(), x + y * x - dtype(3))



def functions():
    x = random.random(5000).astype(np.float32) * 3 + 0.1
    for name in "sin", "cos", "exp", "log", "sqrt", "tanh", "floor":
        got = getattr(clmath, name)(on_device(x)).get()
        np.testing.assert_allclose(got, getattr(np, name)(x), rtol=2e-6, atol=2e-7)


def reductions():
    dot = ReductionKernel(context, np.int64, neutral="0", reduce_expr="a + b",
                          map_expr="(long)x[i] * y[i]", arguments="int *x, int *y")
    for n in SIZES:
        x, y = integers(n), integers(n)
        assert dot(on_device(x), on_device(y)).get() == np.dot(x.astype(np.int64), y)
        assert cl_array.max(on_device(x)).get() == x.max()
        assert cl_array.min(on_device(x)).get() == x.min()


def scans():
    inclusive = InclusiveScanKernel(context, np.int32, "a + b", neutral="0")
    exclusive = ExclusiveScanKernel(context, np.int32, "max(a, b)", neutral="-1")
    for n in SIZES:
        x = integers(n)
        np.testing.assert_array_equal(inclusive(on_device(x)).get(), np.cumsum(x))
        before = np.concatenate([[-1], np.maximum.accumulate(x)[:-1]])
        np.testing.assert_array_equal(exclusive(on_device(x)).get(), before)


def segmented_scans():
    scan = GenericScanKernel(
        context, np.int32, arguments="int *x, char *begins, int *y", input_expr="x[i]",
        scan_expr="across_seg_boundary ? b : a + b", neutral="0",
        is_segment_start_expr="begins[i]", output_statement="y[i] = item;")
    for n in SIZES:
        x, begins = integers(n), (random.random(n) < 0.1).astype(np.int8)
        begins[0] = 1
        y = on_device(np.zeros_like(x))
        scan(on_device(x), on_device(begins), y)
        want = np.concatenate([np.cumsum(part) for part in np.split(x, np.flatnonzero(begins)[1:])])
        np.testing.assert_array_equal(y.get(), want)


def selections():
    for n in SIZES:
        x = np.sort(integers(n))
        got, count, _ = copy_if(on_device(x), "ary[i] > 300")
        np.testing.assert_array_equal(got.get()[:count.get()], x[x > 300])
        yes, no, count, _ = partition(on_device(x), "ary[i] > 300")
        np.testing.assert_array_equal(no.get()[:n - int(count.get())], x[x <= 300])
        got, count, _ = unique(on_device(x))
        np.testing.assert_array_equal(got.get()[:count.get()], np.unique(x))


def radix_sorts():
    sort = RadixSort(context, "int *x", key_expr="x[i]", sort_arg_names=["x"])
    for n in SIZES:
        x = integers(n)
        (got,), _ = sort(on_device(x), key_bits=16)
        np.testing.assert_array_equal(got.get(), np.sort(x))


def bitonic_sorts():
    sort = BitonicSort(context)
    for n in 128, 1024, 65536:
        x = random.random(n).astype(np.float32)
        got, event = sort(on_device(x))
        event.wait()
        np.testing.assert_array_equal(got.get(), np.sort(x))


def random_numbers():
    for generator in PhiloxGenerator, ThreefryGenerator:
        x = generator(context).uniform(queue, 100000, np.float32).get()
        assert 0 <= x.min() and x.max() <= 1 and abs(x.mean() - 0.5) < 0.01
        x = generator(context).normal(queue, 100000, np.float64).get()
        assert abs(x.mean()) < 0.02 and abs(x.std() - 1) < 0.02


def run(test):
    try:
        test()
        print("passed 1")
    except Exception:
        traceback.print_exc()
        print("failed 1:", test.__name__)


def main():
    tests = (elementwise, arithmetic, functions, reductions, scans, segmented_scans, selections,
             radix_sorts, bitonic_sorts, random_numbers)
    for test in tests:
        if len(sys.argv) == 1 or test.__name__ in sys.argv[1:]:
            run(test)


main()

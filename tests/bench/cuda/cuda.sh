#!/bin/sh
# cuda.sh BUILD [ARGUMENT …]: compiles the kernels in CUDA C for the GPU of this machine, with nvcc
# from PATH, CUDA_HOME or /usr/local/cuda, and runs the program (main.c) with the arguments.  For
# machines with NVIDIA's driver: BUILD needs tests/bench/cuda/cuda and bench/simd, and none of our
# packages.
set -u
build=$1
shift
here=tests/bench/cuda
PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
mkdir -p "$build/bench/cuda"
if command -v nvcc >/dev/null; then
    rm -f "$build"/bench/cuda/*.cubin
    for file in "$here"/*.cu; do
        name=$build/bench/cuda/$(basename "$file" .cu)
        nvcc -O3 -arch="${CUDA_ARCH:-native}" -cubin -o "$name.exact.cubin" "$file" &
        nvcc -O3 -arch="${CUDA_ARCH:-native}" -prec-div=false -prec-sqrt=false -cubin \
            -o "$name.fast.cubin" "$file" &
    done
    wait
else
    echo "there is no nvcc: of its kernels, only those in $build/bench/cuda are run" >&2
fi
exec "$build/tests/bench/cuda/cuda" "$@"

#!/bin/sh
# build.sh OPERATORS OUTDIR TYPE: the kernels of a type, compiled with every producer into
# OUTDIR/PRODUCER/TYPE.spv.  OPERATORS is the program that writes them.
set -eu
program=$1 out=$2 type=$3
mkdir -p "$out/clang15-O0" "$out/clang15-O2" "$out/clang22-O2"
source=$out/$type.cl
flags='-cl-std=CL3.0 -c -Xclang -finclude-default-header'
"$program" source "$type" >"$source"
for level in -O0 -O2; do
    stem=$out/clang15$level/$type
    clang-15 -target spir64 $level $flags -emit-llvm -o "$stem.bc" "$source"
    llvm-spirv-15 "$stem.bc" -o "$stem.spv"
    rm "$stem.bc"
done
clang-22 -target spirv64 -O2 $flags -o "$out/clang22-O2/$type.spv" "$source"

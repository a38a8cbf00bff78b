#!/bin/sh
# programs.sh BUILD [PATTERN]: programs of Debian that use OpenCL, on our implementation and on PoCL
# of this machine.
#
# What each is asked is in program.sh.  Prints a table of both, then what fails with us alone; fails
# when programs_differences.txt does not name that.  PATTERN: only tests whose name matches it, as
# grep -E has it.  The packages are installed when they are missing.
set -eu
build=$(cd "$1" && pwd)
pattern=${2:-.}
known=tests/conformance/programs_differences.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/conformance/compare.sh
. tests/conformance/compare.sh
need pocl-opencl-icd clinfo clpeak hashcat python3-pyopencl clblast-tests clfft-client \
    libviennacl-dev ocl-icd-opencl-dev g++ python3-pygpu python3-pytest python3-mako \
    python3-simtk libopenmm-plugins

# What is compiled for OpenCL is compiled, whatever was before.
export SPVFUSE_CACHE=0 XDG_CACHE_HOME="$work/xdg" XDG_DATA_HOME="$work/xdg" PROGRAMS="$work"
mkdir "$work/xdg"

header
for group in clinfo clpeak hashcat pyopencl pygpu clblast clfft viennacl openmm; do
    sh tests/conformance/program.sh list "$group" | grep -E "$pattern" >"$work/list" || continue
    [ "$group" != viennacl ] ||
        g++ -O1 -w -DCL_TARGET_OPENCL_VERSION=120 -DVIENNACL_WITH_OPENCL -o "$work/viennacl" \
            tests/conformance/viennacl.cpp -lOpenCL
    compare "$group" sh tests/conformance/program.sh
done
explain

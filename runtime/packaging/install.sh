#!/bin/sh
# install.sh [--uninstall] BUILD: copies the command, the libraries and their headers to where PREFIX
# says, or removes what that copies.
#
#   PREFIX      /usr/local; below this folder unless it begins with "/"
#   LIBDIR      the libraries: lib; below PREFIX unless it begins with "/"
#   ICDDIR      what tells the OpenCL loader of the library: etc/OpenCL/vendors, likewise
#   PYTHONDIR   the module for Python: lib/python3/dist-packages, likewise
#   DESTDIR     a folder in front of all of them, for packages
#   STRIP       what removes symbols: strip; "true" leaves them
#
# Nothing needs root if the folders do not, and nothing is written to /etc unless ICDDIR is there.  The
# names of two symbols stay, by which gdb finds the code of kernels.
set -eu
remove=
[ "$1" != --uninstall ] || { remove=1; shift; }
build=$1
below() { case $1 in /*) echo "$1" ;; *) echo "$prefix/$1" ;; esac }
prefix=${PREFIX:-/usr/local}
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
libdir=$(below "${LIBDIR:-lib}")
icddir=$(below "${ICDDIR:-etc/OpenCL/vendors}")
pythondir=$(below "${PYTHONDIR:-lib/python3/dist-packages}")
to=${DESTDIR:-}
version=$(sed -n 's/^#define SPVF_VERSION_M[A-Z]*OR //p' runtime/spvfuse.h | paste -sd .)

# put MODE FILE TARGET: copies the file, or removes the target and the folders that it leaves empty.
put() {
    if [ -z "$remove" ]; then
        install -D -m "$1" "$2" "$to$3"
    else
        rm -f "$to$3"
        leave "$(dirname "$3")"
    fi
}
leave() {
    case $1 in "$prefix" | "$prefix/bin" | "$libdir" | "$prefix/include" | / | /etc | /etc/*) return ;; esac
    rmdir "$to$1" 2>/dev/null && leave "$(dirname "$1")" || true
}

# code MODE FILE TARGET OPTION…: the same, without symbols.
code() {
    put "$1" "$2" "$3"
    target=$to$3
    shift 3
    [ -n "$remove" ] || "${STRIP:-strip}" "$@" "$target"
}
link() { # TARGET NAME
    if [ -z "$remove" ]; then ln -sf "$1" "$to$2"; else rm -f "$to$2"; fi
}
# filled TEMPLATE TARGET: with the folders and the version in it.
filled() {
    put 644 "$1" "$2"
    [ -n "$remove" ] || sed "s|@PREFIX@|$prefix|g; s|@LIBDIR@|$libdir|g; s|@VERSION@|$version|g" "$1" >"$to$2"
}

code 755 "$build/spvfuse" "$prefix/bin/spvfuse" --strip-all
code 755 "$build/libspvfuse.so.0.1" "$libdir/libspvfuse.so.0.1" --strip-unneeded \
    -K __jit_debug_register_code -K __jit_debug_descriptor
link libspvfuse.so.0.1 "$libdir/libspvfuse.so.0"
link libspvfuse.so.0 "$libdir/libspvfuse.so"
code 755 "$build/libspvfuse_icd.so" "$libdir/libspvfuse_icd.so" --strip-unneeded
code 644 "$build/libspvfuse.a" "$libdir/libspvfuse.a" --strip-debug
for header in spvfuse.h spvfuse_plan.h spvfuse_native.h spvfuse_queue.h spvfuse_container.h \
    spvfuse_opencl.h spvfuse.hpp; do
    put 644 "runtime/$header" "$prefix/include/$header"
done
# made TARGET ARGUMENT…: what the command prints about itself.
made() {
    target=$1
    shift
    put 644 /dev/null "$target"
    [ -n "$remove" ] || "$build/spvfuse" "$@" >"$to$target"
}
made "$prefix/share/man/man1/spvfuse.1" man
for command in $("$build/spvfuse" help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    made "$prefix/share/man/man1/spvfuse-$command.1" man "$command"
done
headers='runtime/spvfuse.h runtime/spvfuse_plan.h runtime/spvfuse_native.h runtime/spvfuse_queue.h
    runtime/spvfuse_container.h runtime/spvfuse_opencl.h'
pages=$(mktemp -d)
# shellcheck disable=SC2086
"$build/reference" --man "$pages" $headers
for page in "$pages"/*; do put 644 "$page" "$prefix/share/man/man3/${page##*/}"; done
rm -r "$pages"
put 644 "$build/reference.html" "$prefix/share/doc/spvfuse/reference.html"
made "$prefix/share/bash-completion/completions/spvfuse" completion bash
made "$prefix/share/zsh/vendor-completions/_spvfuse" completion zsh
made "$prefix/share/fish/vendor_completions.d/spvfuse.fish" completion fish
put 644 runtime/python/spvfuse.py "$pythondir/spvfuse.py"
filled runtime/packaging/spvfuse.pc.in "$libdir/pkgconfig/spvfuse.pc"
filled runtime/packaging/spvfuseConfig.cmake.in "$libdir/cmake/spvfuse/spvfuseConfig.cmake"
filled runtime/packaging/spvfuseConfigVersion.cmake.in "$libdir/cmake/spvfuse/spvfuseConfigVersion.cmake"
for text in LICENSE NOTICE CHANGELOG.md docs/licenses/libclc.txt; do
    put 644 "$text" "$prefix/share/doc/spvfuse/$text"
done
put 644 /dev/null "$icddir/spvfuse.icd"
[ -n "$remove" ] && exit
echo "$libdir/libspvfuse_icd.so" >"$to$icddir/spvfuse.icd"
[ "$icddir" = /etc/OpenCL/vendors ] ||
    echo "OpenCL programs find it with OCL_ICD_VENDORS=$icddir/spvfuse.icd"

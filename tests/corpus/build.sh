#!/bin/sh
# build.sh OUTDIR [NAME...]: compiles NAME.cl (default: all of them) with every producer into
# OUTDIR/PRODUCER/NAME.spv, two at a time. Quiet on success; on failure it names the files, exits 1.
# Comment lines that a source may carry:
#   // cl: FLAGS                language flags for every producer (first line of the file)
#   // PRODUCER: FLAGS          more flags for one producer, behind all others: -O1 replaces -O2
#   // llvm-spirv: OPTIONS      options of llvm-spirv-15
#   // thaw: PRODUCER           turn LLVM's freeze, which llvm-spirv-15 refuses, into a plain copy
#   // skip: PRODUCER REASON    this producer cannot compile the file, or does it wrong
# The drivers of clang-15 and clang-22 declare the built-ins from a table by themselves
# (-fdeclare-opencl-builtins), so that -finclude-default-header only reads a small header: about
# 20 ms for each compilation.
set -u
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { echo "usage: build.sh OUTDIR [NAME...]" >&2; exit 2; }
mkdir -p "$1/clang15-O0" "$1/clang15-O2" "$1/clang22-O2" || exit 2
out=$(cd "$1" && pwd)
shift
if [ $# -gt 0 ]; then
  for name in "$@"; do set -- "$@" "$here/${name%.cl}.cl"; shift; done
else
  set -- "$here"/*.cl
fi

# One line for each module: "JOB NAME PRODUCER CLANG-FLAGS -- LLVM-SPIRV-OPTIONS", JOB being a
# function below.
list_modules() {
  awk '
    function flush(  p, kind) {
      if (name == "") return
      for (p = 1; p <= 3; p++) {
        kind = (name, producer[p]) in skip ? "skipped" : (name, producer[p]) in thaw ? "thawed" : job[p]
        print kind, name, producer[p], level[p], cl, flags[producer[p]], "--", spirv
      }
    }
    BEGIN {
      producer[1] = "clang15-O0"; job[1] = "translated"; level[1] = "-O0"
      producer[2] = "clang15-O2"; job[2] = "translated"; level[2] = "-O2"
      producer[3] = "clang22-O2"; job[3] = "direct";     level[3] = "-O2"
    }
    FNR == 1 {
      flush()
      name = FILENAME; sub(/.*\//, "", name); sub(/\.cl$/, "", name)
      cl = spirv = ""; split("", flags)
    }
    $1 != "//" || $2 !~ /:$/ { next }
    $2 == "cl:"         { sub(/^.*cl: */, ""); cl = $0; next }
    $2 == "llvm-spirv:" { sub(/^.*llvm-spirv: */, ""); spirv = $0; next }
    $2 == "thaw:"       { thaw[name, $3] = 1; next }
    $2 == "skip:"       { skip[name, $3] = 1; next }
    $2 ~ /^clang/       { p = $2; sub(/:$/, "", p); sub(/^[^:]*: */, ""); flags[p] = flags[p] " " $0 }
    END { flush() }' "$@"
}

# Sets $stem, $source, $flags and $options from "NAME PRODUCER CLANG-FLAGS -- LLVM-SPIRV-OPTIONS".
take_job() {
  stem=$out/$2/$1 source=$here/$1.cl flags=
  shift 2
  while [ "$1" != "--" ]; do flags="$flags $1"; shift; done
  shift
  options=$*
}

clang15() { clang-15 -target spir64 -c -Xclang -finclude-default-header "$@"; }

translated() {
  clang15 $flags -emit-llvm -o "$stem.bc" "$source" && llvm-spirv-15 $options "$stem.bc" -o "$stem.spv"
}

thawed() {
  clang15 $flags -S -emit-llvm -o "$stem.ll" "$source" &&
    sed 's/ = freeze \(.*\) \([^ ]*\)$/ = bitcast \1 \2 to \1/' "$stem.ll" >"$stem.thawed.ll" &&
    clang-15 -target spir64 -x ir -c -emit-llvm -Xclang -disable-llvm-passes -o "$stem.bc" "$stem.thawed.ll" &&
    llvm-spirv-15 $options "$stem.bc" -o "$stem.spv"
}

skipped() { rm -f "$stem.spv"; }

direct() { clang-22 -target spirv64 $flags -c -Xclang -finclude-default-header -o "$stem.spv" "$source"; }

# worker PARITY: does the jobs on standard input whose number has this parity.
worker() {
  failed=0 number=0
  while read -r kind job; do
    number=$((number + 1))
    [ $((number % 2)) -eq "$1" ] || continue
    take_job $job
    "$kind" || { echo "build.sh: $stem.spv failed" >&2; rm -f "$stem.spv"; failed=1; }
    rm -f "$stem.bc" "$stem.ll" "$stem.thawed.ll"
  done
  return $failed
}

modules=$(list_modules "$@") || exit 1
echo "$modules" | worker 0 &
first=$!
echo "$modules" | worker 1
status=$?
wait $first || status=1
exit $status

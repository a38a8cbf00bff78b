#!/bin/sh
# build.sh OUTDIR [NAME...]: compiles NAME.cl (default: all of them) with every producer into
# OUTDIR/NAME.PRODUCER.spv, two at a time. Quiet on success; on failure it names the files and exits 1.
# Comment lines that a source may carry:
#   // cl: FLAGS                language flags for every producer
#   // PRODUCER: FLAGS          more flags for one producer (they come last, so -O1 replaces -O2)
#   // llvm-spirv: OPTS         options of llvm-spirv-15
#   // thaw: PRODUCER           turn LLVM's freeze, which llvm-spirv-15 refuses, into a plain copy
#   // skip: PRODUCER reason    this producer cannot compile the file
set -u
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { echo "usage: build.sh OUTDIR [NAME...]" >&2; exit 2; }
mkdir -p "$1" || exit 2
out=$(cd "$1" && pwd)
shift
if [ $# -gt 0 ]; then
  for name in "$@"; do set -- "$@" "$here/${name%.cl}.cl"; shift; done
else
  set -- "$here"/*.cl
fi

# One line "JOB ..." for each module; the shell function of that name does the work.
jobs() {
  awk '
    function flush(  p) {
      if (name == "") return
      for (p = 1; p <= 3; p++)
        if (!((name, producer[p]) in skip))
          print (name, producer[p]) in thaw ? "thawed" : job[p], name, producer[p], level[p], cl, flags[producer[p]], "--", spirv
    }
    BEGIN {
      producer[1] = "clang15-O0"; job[1] = "translate"; level[1] = "-O0"
      producer[2] = "clang15-O2"; job[2] = "translate"; level[2] = "-O2"
      producer[3] = "clang22-O2"; job[3] = "direct";    level[3] = "-O2"
    }
    FNR == 1 { flush(); name = FILENAME; sub(/.*\//, "", name); sub(/\.cl$/, "", name)
               cl = spirv = ""; split("", flags) }
    !/^\/\/ [a-zA-Z0-9-]+:/ { next }
    $2 == "cl:"         { sub(/^.*cl: */, ""); cl = $0; next }
    $2 == "llvm-spirv:" { sub(/^.*llvm-spirv: */, ""); spirv = $0; next }
    $2 == "thaw:"       { thaw[name, $3] = 1; next }
    $2 == "skip:"       { skip[name, $3] = 1; next }
    $2 ~ /^clang/       { p = $2; sub(/:$/, "", p); sub(/^[^:]*: */, ""); flags[p] = $0 }
    END { flush() }' "$@"
}

# Splits "CLANG-FLAGS -- LLVM-SPIRV-OPTIONS" into $flags and $options.
split_flags() {
  flags=
  while [ "$1" != "--" ]; do flags="$flags $1"; shift; done
  shift
  options="$*"
}

# Each kind of job: NAME PRODUCER CLANG-FLAGS -- LLVM-SPIRV-OPTIONS
translate() {
  stem=$out/$1.$2 source=$here/$1.cl
  shift 2
  split_flags "$@"
  clang15 $flags -emit-llvm -o "$stem.bc" "$source" && llvm-spirv-15 $options "$stem.bc" -o "$stem.spv"
}

thawed() {
  stem=$out/$1.$2 source=$here/$1.cl
  shift 2
  split_flags "$@"
  clang15 $flags -S -emit-llvm -o "$stem.ll" "$source" &&
    sed 's/ = freeze \(.*\) \([^ ]*\)$/ = bitcast \1 \2 to \1/' "$stem.ll" |
      clang-15 -target spir64 -x ir -c -emit-llvm -Xclang -disable-llvm-passes -o "$stem.bc" - &&
    llvm-spirv-15 $options "$stem.bc" -o "$stem.spv"
}

direct() {
  stem=$out/$1.$2 source=$here/$1.cl
  shift 2
  split_flags "$@"
  clang-22 -target spirv64 $flags -c -Xclang -finclude-default-header -o "$stem.spv" "$source"
}

clang15() { clang-15 -target spir64 -c -Xclang -finclude-default-header "$@"; }

# Runs the jobs on standard input whose number is PARITY modulo 2.
worker() {
  failed=0 number=0
  while read -r line; do
    number=$((number + 1))
    [ $((number % 2)) -eq "$1" ] || continue
    set -- "$1" $line
    parity=$1; shift
    "$@" || { echo "build.sh: $2 failed with $3" >&2; rm -f "$out/$2.$3.spv"; failed=1; }
    rm -f "$out/$2.$3.bc" "$out/$2.$3.ll"
    set -- "$parity"
  done
  return $failed
}

list=$(jobs "$@") || exit 1
echo "$list" | worker 0 &
first=$!
echo "$list" | worker 1
status=$?
wait $first || status=1
exit $status

#!/bin/sh
# piglit.sh BUILD [PATTERN]: piglit's OpenCL tests (Debian's package piglit) on our implementation,
# and on PoCL of this machine.
#
# Prints a table of both, then what fails with us alone.  PATTERN: only tests whose name matches it,
# as grep -E has it.  A test is a program cl-*, or a file of cl-program-tester, which has several
# parts; what has no parts counts as one.  Fails when something fails with us alone that
# piglit_differences.txt does not name.
set -eu
build=$(cd "$1" && pwd)
pattern=${2:-.}
command -v piglit >/dev/null || { echo "piglit.sh: package piglit is needed" >&2; exit 1; }
piglit=$(dirname "$(dirname "$(dpkg -L piglit | grep '/cl-program-tester$')")")
known=$PWD/tests/conformance/piglit_differences.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# One test: "NAME PASSED FAILED SKIPPED".
cat >"$work/one" <<'END'
#!/bin/sh
case $1 in
*/*) out=$(timeout 120 bin/cl-program-tester "$1" -auto 2>&1) ;;
*) out=$(timeout 120 "bin/$1" -auto 2>&1) ;;
esac
printf '%s\n' "$out" | awk -v name="$1" '
    /^PIGLIT: \{"subtest"/ { part = 1; n[/"pass"/ ? 1 : /"skip"/ ? 3 : 2]++ }
    /^PIGLIT: \{"result"/ { done = 1; whole = /"pass"/ ? 1 : /"skip"/ ? 3 : 2 }
    END {
        if (!done) whole = 2
        if (!part || (whole == 2 && !n[2])) n[whole]++
        print name, n[1] + 0, n[2] + 0, n[3] + 0
    }'
END
chmod +x "$work/one"

cd "$piglit"
{
    find bin -name 'cl-api-*' -o -name 'cl-custom-*' -o -name 'cl-program-[!t]*' | sed 's|bin/||'
    find tests/cl/program generated_tests/cl -name '*.cl' -o -name '*.program_test'
} | grep -E "$pattern" | sort >"$work/list"

run() { # NAME VENDORS
    OCL_ICD_VENDORS=$2 POCL_CACHE_DIR=$work/cache \
        xargs -P "$(nproc)" -n 1 "$work/one" <"$work/list" | sort >"$work/$1"
    awk -v name="$1" '{ p += $2; f += $3; s += $4 }
        END { printf "%-8s %7d %7d %7d %7d\n", name, p + f + s, p, f, s }' "$work/$1"
}

mkdir "$work/cache" # it does not make its folder well when several processes begin at once
printf '%-8s %7s %7s %7s %7s\n' '' total pass fail skip
run spvfuse "$build/spvfuse.icd"
run pocl pocl.icd

join "$work/spvfuse" "$work/pocl" | awk '$3 > $6 { print $1 }' >"$work/alone"
new=0
while read -r name; do
    why=$(sed -n "s|^$name ||p" "$known")
    [ -n "$why" ] || new=$((new + 1))
    echo "fails with us alone: $name${why:+ ($why)}"
done <"$work/alone"
[ "$new" = 0 ]

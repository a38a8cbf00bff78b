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
known=$PWD/tests/conformance/piglit_differences.txt
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# shellcheck source=tests/conformance/compare.sh
. tests/conformance/compare.sh
need piglit pocl-opencl-icd
piglit=$(dirname "$(dirname "$(dpkg -L piglit | grep '/cl-program-tester$')")")

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
header
compare piglit "$work/one"
explain

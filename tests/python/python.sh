#!/bin/sh
# python.sh BUILD: the binding for Python: its structures are those of the headers, and its tests pass.
set -u
build=$(cd "$1" && pwd)
# shellcheck source=tests/count.sh
. tests/count.sh
python=
for candidate in /usr/bin/python3 python3; do
    [ -n "$python" ] || ! command -v $candidate >/dev/null 2>&1 || python=$candidate
done
if [ -z "$python" ]; then
    echo "python3 is missing; its binding is not tested"
    passed
    finish
    exit
fi
mkdir "$work/package"
cp runtime/python/spvfuse.py "$work/package"
export PYTHONPATH="$work/package" LD_LIBRARY_PATH="$build" SPVFUSE_CACHE_DIR="$work/cache" PYTHONDONTWRITEBYTECODE=1

layout() {
    "$python" tests/python/layout.py >"$work/layout.c" &&
        gcc -std=c17 -I. "$work/layout.c" -o "$work/layout" && "$work/layout"
}
check "structures" layout
check "the binding" timeout 120 "$python" tests/python/spvfuse_test.py docs/examples/kernels.cl
sed -n 's/^Ran \([0-9]*\) tests.*/\1 tests of the binding/p' "$work/said"
check "its documentation" "$python" -c "import spvfuse, inspect
for name in spvfuse.__all__:
    thing = getattr(spvfuse, name)
    assert inspect.getdoc(thing), name
    for member, value in vars(thing).items() if inspect.isclass(thing) else ():
        if not member.startswith('_') and inspect.isfunction(value):
            assert value.__doc__ and value.__annotations__, (name, member)"
finish

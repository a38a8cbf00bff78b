#!/bin/sh
# recipes.sh BUILD: the recipes "A target" and "A device" of docs/ADDING.md in a copy of the tree.
# Their commands make a target and a device of the templates, and change no other file but the
# tables; eval lines are compiled for the target, and a plan runs on the device.
set -u
build=$1
# shellcheck source=tests/count.sh
. tests/count.sh
tree=$work/tree

# The sources, and what has been built of the library and the golden runner.
mkdir "$work/sources"
git ls-files -z | xargs -0 cp -p --parents -t "$work/sources"
cp -a "$work/sources" "$tree"
mkdir -p "$tree/build/tests"
for part in .ninja_log .ninja_deps gen codegen frontend ir passes runtime demo rulegen mathpack x86rows; do
    cp -a "$build/$part" "$tree/build"
done
cp -a "$build"/*.o "$tree/build"
cp -a "$build"/tests/*.o "$tree/build/tests"

# follow NAME: runs the commands of a recipe; $work/output is what they print.
follow() {
    awk -v name="$1" '
        index($0, "<!-- " name ", tried by") { on = 1 }
        on && /^```/ { n++; next }
        n == 1 { print }
        n == 2 { exit }' docs/ADDING.md >"$work/recipe"
    check "docs/ADDING.md has no recipe for $1" [ -s "$work/recipe" ]
    (cd "$tree" && sh -e "$work/recipe") >"$work/output" 2>&1
    check "the recipe for $1 fails: $(tail -n 5 "$work/output")" [ $? = 0 ]
}

follow "a target"
check "the command makes no code" grep -q '^    push.64 fp, lr$' "$work/output"
follow "a device"
check "the device is not listed" grep -q '^hip ' "$work/output"

changed=$(cd "$work" && diff -rq sources tree -x build)
check "other files change: $changed" [ "$changed" = "Only in tree/codegen: aarch64
Files sources/codegen/targets.def and tree/codegen/targets.def differ
Files sources/codegen/targets.ninja and tree/codegen/targets.ninja differ
Files sources/runtime/devices/devices.def and tree/runtime/devices/devices.def differ
Files sources/runtime/devices/devices.ninja and tree/runtime/devices/devices.ninja differ
Only in tree/runtime/devices: hip" ]

cd "$tree" || exit 1
check "the options of the device" sh -c "build/spvfuse run -d hip:fast build/demo/explain.plan 2>&1 |
    grep -q 'unknown device .hip:fast.: .*, hip, hip:host, hip:unordered'"
check "the golden runner is not built" ninja build/tests/run
check "eval lines fail" build/tests/run tests/ir tests/codegen/template
finish

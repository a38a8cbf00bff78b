#!/bin/sh
# copy.sh BUILD: the recipe "A target" of docs/ADDING.md in a copy of the tree: its commands make a
# target of the template, change no other file, and the code of eval lines is compiled for it.
set -u
build=$1
# shellcheck source=tests/count.sh
. tests/count.sh
tree=$work/tree

# The sources, and what has been built of the library and the golden runner.
mkdir "$work/sources"
git ls-files -z --cached --others --exclude-standard | xargs -0 cp -p --parents -t "$work/sources"
cp -a "$work/sources" "$tree"
mkdir -p "$tree/build/tests"
for part in .ninja_log .ninja_deps gen codegen frontend ir passes runtime demo rulegen mathpack x86rows; do
    cp -a "$build/$part" "$tree/build"
done
cp -a "$build"/*.o "$tree/build"
cp -a "$build"/tests/*.o "$tree/build/tests"

awk '/^<!-- a target, tried by/ { on = 1 }
     on && /^```/ { n++; next }
     n == 1 { print }
     n == 2 { exit }' docs/ADDING.md >"$work/recipe"
check "docs/ADDING.md: no recipe" [ -s "$work/recipe" ]
(cd "$tree" && sh -e "$work/recipe") >"$work/output" 2>&1
check "the recipe fails: $(tail -n 5 "$work/output")" [ $? = 0 ]
check "the command makes no code" grep -q '^    push.64 fp, lr$' "$work/output"

changed=$(cd "$work" && diff -rq sources tree -x build)
check "other files change: $changed" [ "$changed" = "Only in tree/codegen: aarch64
Files sources/codegen/targets.def and tree/codegen/targets.def differ
Files sources/codegen/targets.ninja and tree/codegen/targets.ninja differ" ]

cd "$tree" || exit 1
check "the golden runner is not built" ninja build/tests/run
check "eval lines fail" build/tests/run tests/ir tests/codegen/template
finish

#!/bin/sh
# deb.sh BUILD: Debian packages of what BUILD holds, in BUILD/deb, after lintian has found no error in
# them.  They are made in a copy of the sources below BUILD, so that nothing is left between those.
set -eu
build=$(cd "$1" && pwd)
for tool in dh lintian fakeroot; do
    command -v $tool >/dev/null || { echo "deb.sh: $tool is needed: sh setup.sh package" >&2; exit 1; }
done
rm -rf "$build/deb"
mkdir -p "$build/deb/tree"
git ls-files -z -- docs runtime CHANGELOG.md LICENSE NOTICE README.md |
    xargs -0 cp --parents -t "$build/deb/tree"
ln -s "$build" "$build/deb/tree/build"
mv "$build/deb/tree/runtime/packaging/debian" "$build/deb/tree"
cd "$build/deb/tree"
BUILT=1 DEB_OUT=.. fakeroot debian/rules binary >"$build/deb/log" 2>&1 ||
    { tail -n 30 "$build/deb/log" >&2; exit 1; }
cd .. && rm -rf tree
for tool in *.deb; do echo "$tool"; done
lintian --fail-on error --suppress-tags initial-upload-closes-no-bugs *.deb

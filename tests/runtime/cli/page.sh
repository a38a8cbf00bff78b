#!/bin/sh
# page.sh BUILD [FOLDER]: what `spvfuse explain --html` and `--dot` write.
#
# The page is one file without network, and text of modules never becomes markup; Graphviz reads the
# graph.  If Chromium is installed, it opens the page, and page_probe.js looks at the document and
# uses it, at two widths.  With FOLDER, Chromium is required, and pictures of the demos are left
# there, in light and dark, at three widths.
set -u
spvfuse=$PWD/$1/spvfuse
folder=${2:+$PWD/$2}
probe=$PWD/tests/runtime/cli/page_probe.js
demo=$PWD/$1/demo
# shellcheck source=tests/count.sh
. tests/count.sh
cd "$work" || exit 1

# ---- a module whose names and source would be markup
cat >evil.ir <<'IR'
target 64
file "<img src=x onerror=document.title='taken'>.cl"
line 10 0 2 5
kernel @put(%"</script><b id=evil>": ptr.global of i32, %out: ptr.global of i32) {
entry:
  %i: i64 = global_id 0
  %o: i64 = shl %i, 2 !10
  %p: ptr.global = ptradd %"</script><b id=evil>", %o inbounds !10
  %q: ptr.global = ptradd %out, %o inbounds !10
  %n: ptr.global = ptradd %p, 4 inbounds !10
  %x: i32 = load %n align 4 !10
  store %x, %q align 4 !10
  ret
}
IR
printf '%s\n' '/* </script><script>document.title = "taken"</script> */' '<b id=evil>&lt;</b> <!--' 'x' \
    >"<img src=x onerror=document.title='taken'>.cl"
{
    echo 'buffer x i32[65] = 0' && echo 'buffer y i32[65]' && echo 'buffer z i32[65]'
    echo 'fuse two {' && echo 'launch "evil.ir":put global 64 local 16 args x, y'
    echo 'launch "evil.ir":put global 64 local 16 args y, z' && echo '}'
    echo 'fuse one {' && echo 'launch "evil.ir":put global 64 local 16 args x, y' && echo '}'
} >evil.plan
check "html" "$spvfuse" explain evil.plan -t x86_64:v3 --html evil.html --dot evil.dot

# counts TEXT N FILE
counts() { [ "$(grep -oF -- "$1" "$3" | wc -l)" = "$2" ]; }
check "two scripts" counts '</script>' 2 evil.html
check "no image" counts '<img' 0 evil.html
check "no element of the source" counts '<b id' 0 evil.html
check "no comment" counts '<!--' 0 evil.html
check "the source is in the page" grep -q 'u003cb id=evil' evil.html
check "no network" sh -c '! grep -oE "https?://[^\"]*" evil.html | grep -vqx http://www.w3.org/2000/svg'
check "a policy" grep -q "default-src 'none'" evil.html

# Names of files that are no sources are not read, whatever a module says.
sed "s/^file .*/file \"secret.txt\"/" evil.ir >other.ir
sed 's/evil.ir/other.ir/' evil.plan >other.plan
echo 'a secret' >secret.txt
check "html" "$spvfuse" explain other.plan -t x86_64:v3 --html other.html
check "no secret" sh -c '! grep -q "a secret" other.html'

# Nor are files of other folders, by whatever path, link or plan; nor pipes.
mkdir -p plans/below elsewhere
echo '/* a secret */' >elsewhere/secret.c
echo '/* below */' >plans/below/own.c
ln -s ../elsewhere/secret.c plans/linked.c
ln -s ../elsewhere plans/folder
mkfifo plans/pipe.c
sed 's/evil.ir/named.ir/' evil.plan >plans/named.plan
shows() {
    sed "s|^file .*|file \"$1\"|" evil.ir >plans/named.ir
    timeout 20 "$spvfuse" explain plans/named.plan -t x86_64:v3 --html named.html >/dev/null &&
        grep -q "$2" named.html
}
hides() { shows "$1" . && ! grep -q 'a secret' named.html; }
for path in elsewhere/secret.c "$work/elsewhere/secret.c" ../elsewhere/secret.c plans/../elsewhere/secret.c \
    plans/linked.c linked.c plans/folder/secret.c folder/secret.c; do
    check "a file elsewhere: $path" hides "$path"
done
check "a pipe" shows pipe.c 'u003c'
for path in below/own.c plans/below/own.c "$work/plans/below/own.c" ./below/../below/own.c; do
    check "a file below the plan: $path" shows "$path" 'below \*/'
done
sed 's|"named.ir|"../elsewhere/named.ir|' plans/named.plan >plans/module.plan
sed "s|^file .*|file \"made/by/secret.c\"|" evil.ir >elsewhere/named.ir
check "html" "$spvfuse" explain plans/module.plan -t x86_64:v3 --html module.html
check "a file beside the module" grep -q 'a secret' module.html

check "standard output" sh -c '"$0" explain evil.plan --html - | head -n 1 | grep -qx "<!DOCTYPE html>"' "$spvfuse"
check "a folder that is absent" sh -c '! "$0" explain evil.plan --html absent/x.html >/dev/null 2>&1' "$spvfuse"

# ---- Graphviz
check "a red edge" grep -q 'color=red, fontcolor=red.*fuse.grid' evil.dot
"$spvfuse" explain "$demo/image.plan" -t x86_64:v3 --dot image.dot >/dev/null
check "promoted buffers" grep -q 'style=dashed' image.dot
"$spvfuse" explain "$demo/explain.plan" --auto -t x86_64:v3 --dot auto.dot >/dev/null
check "a cut between parts" grep -q 'p0m2 -> p1m0 .*color=red' auto.dot
if command -v dot >/dev/null; then
    for graph in evil image auto; do
        check "$graph.dot" dot -Tsvg "$graph.dot" -o "$graph.svg"
        check "$graph.svg" grep -q '<svg' "$graph.svg"
    done
else
    echo "page: dot is not installed, so it does not read the graphs"
fi

# ---- a browser
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome)
# open WIDTH HEIGHT OPTION…: Chromium without its sandbox, which root cannot have.
open() {
    width=$1 height=$2
    shift 2
    timeout 60 "$browser" --headless --no-sandbox --disable-gpu --hide-scrollbars \
        --user-data-dir="$work/profile" --window-size="$width,$height" "$@" 2>/dev/null
}

# probed PAGE WIDTH: all that page_probe.js looks at is as it should be.
probed() {
    { cat "$1.html" && echo '<script>' && cat "$probe" && echo '</script>'; } >probed.html
    open "$2" 1000 --dump-dom "file://$work/probed.html" |
        sed -n '/<pre id="probe">/,/<\/pre>/p' | grep -E '^(ok|wrong) ' >probe
    check "$1 at $2: $(grep '^wrong' probe)" sh -c '[ "$(grep -c "^ok" probe)" -ge 15 ] && ! grep -q "^wrong" probe'
}

if [ -n "$browser" ]; then
    "$spvfuse" explain "$demo/heat.plan" -t x86_64:v3 --html heat.html >/dev/null
    long=a_kernel_with_a_name_that_a_tool_has_made_and_that_does_not_end_before_the_line_does
    sed "s/@step/@$long/; s/kernel void step/kernel void $long/; s/:step/:$long/" "$demo/heat.plan" >long.plan
    sed "s/ step(/ $long(/" "$demo/heat.cl" >heat.cl
    sed -i 's/heat[.a-z]*"/heat.cl"/' long.plan
    check "long names" "$spvfuse" explain long.plan --auto -t x86_64:v3 --html long.html
    probed long 500
    probed long 1300
    probed evil 500
    probed heat 1600
elif [ -n "$folder" ]; then
    failed "Chromium is not installed (Debian: chromium)"
else
    echo "page: Chromium is not installed, so it does not open the pages; 'ninja page' requires it"
fi

# ---- pictures
if [ -n "$folder" ] && [ -n "$browser" ]; then
    mkdir -p "$folder"
    for page in image explain heat; do
        "$spvfuse" explain "$demo/$page.plan" --html "$page.html" >/dev/null
        for width in 500 1280 1900; do
            for scheme in dark light; do
                dark=$([ "$scheme" = dark ] && echo 0 || echo 1)
                check "$page-$width-$scheme" open "$width" 1600 --blink-settings=preferredColorScheme="$dark" \
                    --screenshot="$folder/$page-$width-$scheme.png" "file://$work/$page.html"
            done
        done
    done
fi
finish

#!/bin/sh
# cache.sh BUILD: the cache of `spvfuse run` between processes: 64 that start at once, SPIR-V whose
# ids have other numbers, and the commands.
set -u
spvfuse=$PWD/$1/spvfuse
bench=$PWD/$1/bench
here=$PWD/tests/runtime/cache
# shellcheck source=tests/count.sh
. tests/count.sh
cd "$work" || exit 1

export SPVFUSE_CACHE=1 SPVFUSE_CACHE_DIR="$work/cache"
entries() { find cache -type f ! -name sizes | wc -l; }
has_entries() { [ "$(entries)" = "$1" ] || { entries && false; }; }

# All at once, on nothing.
cp "$bench/matmul.spv" "$bench/saxpy.spv" "$bench/scale.spv" .
cat >matmul.plan <<'PLAN'
buffer a f32[256] = 1.0
buffer b f32[256] = 2.0
buffer c f32[256]
launch "matmul.spv":matmul global 16 16 local 16 16 args a, b, c
expect c[0..255] = 32.0
PLAN
mkfifo gate
for n in $(seq 64); do
    { read -r _ <gate || :; "$spvfuse" run matmul.plan >"run$n" 2>&1; echo "$?" >"rc$n"; } &
done
sleep 0.2
: >gate
wait
for n in $(seq 64); do check "process $n" grep -qx 0 "rc$n"; done
check "64 processes leave one entry" has_entries 1
check "which is whole" "$spvfuse" cache verify

# renumber FILE: the same module, every id another one.
renumber() {
    spirv-dis --raw-id --no-color "$1" | awk '
        /^; Bound:/ { bound = $3 }
        {
            out = ""
            while (match($0, /%[0-9]+/)) {
                id = bound - substr($0, RSTART + 1, RLENGTH - 1)
                out = out substr($0, 1, RSTART) id
                $0 = substr($0, RSTART + RLENGTH)
            }
            print out $0
        }' >text && spirv-as --preserve-numeric-ids --target-env spv1.0 text -o renumbered &&
        ! cmp -s "$1" renumbered && mv renumbered "$1"
}

cp "$here/pair.plan" .
check "a fused pair" "$spvfuse" run pair.plan --strict
check "is one entry" has_entries 2
for f in *.spv; do check "$f gets other ids" renumber "$f"; done
check "matmul with other ids" "$spvfuse" run matmul.plan
check "the pair with other ids" "$spvfuse" run pair.plan
check "are found" has_entries 2
sed 's/3.0f/4.0f/; s/^expect.*//' pair.plan >other.plan
check "another constant" "$spvfuse" run other.plan
check "is not" has_entries 3
check "another level" "$spvfuse" run matmul.plan -d cpu:v2
check "is not found either" has_entries 4
check "unless the cache is off" env SPVFUSE_CACHE=0 "$spvfuse" run matmul.plan -d cpu:v2,seed=5
check "nothing is kept" has_entries 4

# The commands.
"$spvfuse" cache stats --json >stats
bytes=$(du -c --block-size=1 cache/[0-9a-f]* | awk 'END { print $1 }')
check "stats" grep -q "\"entries\":4,\"bytes\":$bytes," stats
check "stats for people" "$spvfuse" cache stats
for f in cache/0* cache/[1-9a-f]*; do [ -f "$f" ] && printf x >>"$f" && break; done
"$spvfuse" cache verify --json >verify 2>/dev/null
check "a damaged entry fails" [ $? = 1 ]
check "and is counted" grep -q '"damaged":1' verify
check "runs go on" "$spvfuse" run matmul.plan
check "runs go on" "$spvfuse" run pair.plan
check "clear" "$spvfuse" cache clear
check "leaves nothing" [ -z "$(ls -A cache)" ]
check "no directory" env SPVFUSE_CACHE_DIR=/dev/null/x "$spvfuse" cache stats
check "runs without one" env SPVFUSE_CACHE_DIR=/dev/null/x "$spvfuse" run matmul.plan
"$spvfuse" cache empty >/dev/null 2>&1
check "a word that is none" [ $? = 2 ]

finish

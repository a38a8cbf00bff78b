#!/bin/sh
# seeds.sh OUT CORPUS SPVFUSE: seed inputs of the fuzz targets, from what is there already.
set -eu
out=$1
corpus=$2
spvfuse=$3
mkdir -p "$out/spirv" "$out/text" "$out/plan" "$out/gen" "$out/lanes" "$out/pipelines" "$out/regalloc" \
    "$out/entry" "$out/container" "$out/hcf"
# Small modules of each producer, and malformed ones.
find "$corpus" -path '*clang*' -name '*.spv' -size -8k | grep -v '\.out/' | sort | awk 'NR % 4 == 0' |
    while read -r f; do cp "$f" "$out/spirv/$(echo "$f" | tr / _)"; done
for f in tests/frontend/malformed/[a-m]*.spvasm tests/frontend/lenient/[a-m]*.spvasm; do
    spirv-as --target-env spv1.4 "$f" -o "$out/spirv/$(basename "$f" asm)" 2>/dev/null || true
done
find tests -name '*.ir' | while read -r f; do cp "$f" "$out/text/"; done
for f in tests/ir/*.ir tests/passes/*/*.ir; do
    head -c 3000 "$f" >"$out/text/head_$(basename "$f")"
done
cp tests/corpus/*.plan docs/demo/*.plan "$out/plan/"
echo 'buffer x i32[9]
launch "k.spv":k global 9 local 4 uneven args x at 8, x at 36 internal' >"$out/plan/parts.plan"
# Containers of a few modules, of both kinds, and of objects where code is made for this machine.
for name in saxpy call_tree constant_tables; do
    spv=$corpus/clang15-O2/$name.spv
    "$spvfuse" pack "$spv" -o "$out/container/$name"
    "$spvfuse" pack "$spv" "$corpus/clang15-O2/switch_dense.spv" --set id=5 -t x86_64:v2 \
        -o "$out/container/$name.native"
    "$spvfuse" pack "$spv" --hcf --set k=v -o "$out/hcf/$name"
done
cp tests/fuzz/*.hcf "$out/hcf/"
# Entries of the cache, where native code can be made.
work=$(mktemp -d)
for name in saxpy constant_tables program_scope_pointer switch_dense wg_scan; do
    cp "tests/corpus/$name.plan" "$corpus/clang15-O2/$name.spv" "$work"
    SPVFUSE_CACHE=1 SPVFUSE_CACHE_DIR="$work/cache" "$spvfuse" run "$work/$name.plan" \
        >"$work/log" 2>&1
done
for f in "$work"/cache/????*?????; do [ ! -f "$f" ] || cp "$f" "$out/entry/"; done
rm -rf "$work"
# Programs: any bytes do; text has enough variety, and random ones are longer.
for f in tests/corpus/*.cl; do tail -c 400 "$f" >"$out/gen/$(basename "$f")"; done
random_files() {
    LC_ALL=C awk -v name="$out/$1/random" -v seed="$2" -v least="$3" -v step="$4" 'BEGIN {
        srand(seed)
        for (f = 0; f < 40; f++) {
            for (i = 0; i < least + step * f; i++) printf "%c", int(rand() * 255) + 1 > (name f)
            close(name f)
        }
    }'
}
random_files gen 7 300 20
random_files lanes 11 150 25
random_files pipelines 8 100 40
random_files regalloc 9 20 15

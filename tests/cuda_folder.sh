#!/bin/sh
# cuda_folder.sh BUILD: BUILD/cuda, the folder that cuda.sh needs on a machine with a GPU.
set -eu
build=$1
folder=$build/cuda
rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/plans"
for program in spvfuse tests/corpus_run tests/conformance/fusion tests/fuzz/pipelines \
    tests/device/device tests/codegen/math/ulp-static; do
    strip -o "$folder/bin/$(basename "$program" -static)" "$build/$program"
done
cp tests/corpus/*.plan tests/corpus/*.txt tests/corpus/*.cl "$folder/plans"
mkdir "$folder/corpus"
cp -r "$build"/corpus/clang* "$folder/corpus"
find "$folder/corpus" -type f ! -name '*.spv' -delete
cp -r tests/conformance/fusion "$folder/conformance"
cp -r "$build/seeds/pipelines" "$folder/seeds"
cp "$build/bench/saxpy.spv" "$build/bench/scale.spv" "$folder"
cat >"$folder/chain.plan" <<'PLAN'
buffer x   f32[1024] = iota
buffer y   f32[1024] = 1.0
buffer tmp f32[1024] internal
buffer out f32[1024]
fuse pair {
  launch "saxpy.spv":saxpy  global 1024 local 64 args x, y, 2.0f, tmp
  launch "scale.spv":scale  global 1024 local 64 args tmp, 3.0f, out
}
expect out[0..3] = 3.0, 9.0, 15.0, 21.0
PLAN
cp tests/cuda.sh "$folder"
du -sm "$folder" | awk '{ print $2 ": " $1 " MiB"; exit $1 >= 60 }'
echo "run there: sh $folder/cuda.sh $folder"

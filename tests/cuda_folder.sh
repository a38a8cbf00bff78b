#!/bin/sh
# cuda_folder.sh BUILD: BUILD/cuda, the folder that cuda.sh needs on a machine with a GPU.
set -eu
build=$1
folder=$build/cuda
rm -rf "$folder"
mkdir -p "$folder/bin" "$folder/plans"
for program in spvfuse tests/corpus_run tests/conformance/fusion tests/fuzz/pipelines \
    tests/device/device tests/bench/phases tests/codegen/math/ulp-static; do
    strip -o "$folder/bin/$(basename "$program" -static)" "$build/$program"
done
cp tests/corpus/*.plan tests/corpus/*.txt tests/corpus/*.cl "$folder/plans"
"$build/tests/corpus_run" tests/corpus "$build/corpus" --stage modules # also written anew by us
mkdir "$folder/corpus"
cp -r "$build"/corpus/clang* "$folder/corpus"
find "$folder/corpus" -type f ! -name '*.spv' -delete
cp -r tests/conformance/fusion "$folder/conformance"
cp -r "$build/seeds/pipelines" "$folder/seeds"
cp "$build/bench/saxpy.spv" "$build/bench/scale.spv" "$folder"
cp tests/runtime/cache/pair.plan "$folder/chain.plan"
cp tests/cuda.sh "$folder"
du -sm "$folder" | awk '{ print $2 ": " $1 " MiB"; exit $1 >= 60 }'
echo "run there: sh $folder/cuda.sh $folder"

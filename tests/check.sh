#!/bin/sh
# check.sh RELEASE: the tests of every day, below a minute: golden files, unit tests, tables, the
# command, the docs, and some random programs; the sum is the last line.  all.sh runs everything.
set -u
release=$1
. tests/suites.sh

# The slowest first.
slow='regions_test|expand_test|opencl_std_test|subgroup_test|source_test|compiler_test|link_test|loops_test|native_test|regalloc_test|cache_test|pool_test|fork_test'
suite fusion "$release/tests/conformance/fusion" tests/conformance/fusion
suite command sh tests/runtime/cli/command.sh "$release"
suite bugs sh tests/runtime/cli/bugs.sh "$release"
suite save sh tests/runtime/cli/save.sh "$release"
suite abi sh tests/runtime/api/abi.sh "$release"
suite cli-devices sh tests/runtime/cli/devices.sh "$release"
suite cli-source sh tests/runtime/cli/source.sh "$release"
suite cli-words sh tests/runtime/cli/words.sh "$release"
suite trace sh tests/runtime/trace.sh "$release"
suite python sh tests/python/python.sh "$release"
suite cuda-command sh tests/runtime/devices/cuda/command.sh "$release"
suite resident sh tests/passes/workgroup/resident.sh "$release"
suite corpus-remarks sh tests/passes/vectorize/corpus.sh "$release"
suite remarks sh tests/runtime/cli/remarks.sh "$release"
suite explain sh tests/runtime/cli/explain.sh "$release"
suite page sh tests/runtime/cli/page.sh "$release"
suite code-forms sh tests/codegen/x86_64/forms.sh "$release"
suite stats sh tests/runtime/cli/stats.sh "$release"
suite facts sh tests/runtime/cli/facts.sh "$release"
suite specialized sh tests/runtime/cli/specialized.sh "$release"
suite definitions sh tests/runtime/cli/definitions.sh "$release"
suite golden "$release/tests/run" --isel tests/ir tests/passes $(machine_folders)
suite docs sh tests/docs.sh "$release"
suite commands sh tests/commands.sh "$release"
suite opencl-faults sh tests/opencl/faults.sh "$release"
suite tutorial sh tests/tutorial.sh "$release"
suite arrows sh tests/arrows.sh "$release"
suite size sh tests/size.sh
suite golden-cases sh tests/golden.sh
suite state sh tests/state.sh "$release"
suite layouts "$release/tests/runtime/queue/layouts" -n 500
suite reader-errors "$release/tests/frontend/errors" tests/frontend "$release/reader"
suite reader-widths "$release/tests/frontend/widths" "$release/reader"
for source in $(find tests -name '*_test.c' | sort | grep -vE "/($slow)\.c\$"); do
    suite "$(suite_of "$source")" "$release/${source%.c}"
done
for target in container gen hcf lanes pipelines spirv text plan regalloc; do
    suite "random-$target" "$release/tests/fuzz/$target" -n 100 -s 1 "$release/seeds/$target"
done
run_suites
sum_up

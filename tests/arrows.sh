#!/bin/sh
# arrows.sh BUILD: the #include arrows between the folders, as docs/ARCHITECTURE.md states them, and the
# symbols that the objects of one folder of passes/ use of another, and files of codegen/ of each other.
set -u
build=$1
passed=0
failed=0

# check FOLDER ALLOWED…: files of FOLDER include only "ALLOWED…", and headers of their own folder.
check() {
    folder=$1
    shift
    allowed=$(printf '|%s' "$@")
    bad=$(grep -nE '^#include "' "$folder"/*.c "$folder"/*.h "$folder"/*.re 2>/dev/null |
        grep -v '^codegen/math/mathpack.c:' |
        grep -vE "#include \"(${allowed#|}|$folder/[^/]*\"|generated/)")
    if [ -z "$bad" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf '%s: may include only %s:\n%s\n' "$folder" "$*" "$bad"
    fi
    checked="${checked-} $folder"
}

check ir
check frontend ir/

# The driver names passes, and knows nothing else of them.
check passes ir/
check passes/analysis ir/ passes/passes.h
check passes/scalar ir/ passes/passes.h passes/rule_words.h passes/analysis/
check passes/inline ir/ passes/passes.h passes/analysis/
check passes/lower ir/ passes/passes.h passes/rule_words.h passes/analysis/
check passes/vectorize ir/ passes/passes.h passes/analysis/
check passes/workgroup ir/ passes/passes.h passes/analysis/
check passes/fusion ir/ passes/passes.h passes/analysis/

check codegen ir/
check codegen/math ir/ codegen/codegen.h
check codegen/spirv ir/ codegen/codegen.h
check codegen/ptx ir/ codegen/codegen.h
check codegen/native ir/ codegen/codegen.h
check codegen/regalloc codegen/native/native.h
check codegen/object codegen/codegen.h
for machine in template $(sed -n 's/^MACHINE(\(.*\))$/\1/p' codegen/targets.def); do
    check "codegen/$machine" ir/ codegen/codegen.h codegen/native/ codegen/object/
    machines="${machines-} codegen/$machine"
done

# Public headers find each other where they are installed.
check runtime spvfuse.h spvfuse_native.h spvfuse_plan.h
check runtime/packaging
check runtime/cli runtime/spvfuse_container.h runtime/api/json_string.h
check runtime/api ir/ frontend/frontend.h passes/fusion/fuse.h passes/lower/reflect.h passes/workgroup/regions.h \
    codegen/codegen.h runtime/spvfuse.h runtime/native/native.h runtime/devices/cpu/cpu.h \
    runtime/system/environment.h runtime/system/lock.h runtime/system/ref.h \
    runtime/system/trace.h
check runtime/container ir/ runtime/spvfuse_container.h runtime/api/runtime.h runtime/native/native.h runtime/devices/cpu/cpu.h
check runtime/plan ir/ runtime/devices/device.h runtime/queue/chain.h
check runtime/native passes/workgroup/regions.h runtime/api/runtime.h runtime/system/
check runtime/system runtime/api/runtime.h runtime/api/json_string.h runtime/native/native.h runtime/queue/queue.h
check runtime/cache runtime/native/native.h runtime/system/
check runtime/devices ir/ runtime/api/runtime.h runtime/api/save.h runtime/system/
for device in template $(sed -n 's/^DEVICE(\(.*\))$/\1/p' runtime/devices/devices.def); do
    check "runtime/devices/$device" ir/ 'runtime/devices/[a-z]*\.h' runtime/cache/cache.h \
        runtime/system/
    devices="${devices-} runtime/devices/$device"
done
# Queues know devices by their interface only.
check runtime/queue runtime/spvfuse_queue.h runtime/api/runtime.h runtime/system/ \
    runtime/devices/device.h runtime/devices/shared.h
check runtime/source runtime/cache/cache.h runtime/system/ runtime/devices/devices.def
check runtime/opencl ir/ runtime/source/source.h runtime/spvfuse_container.h runtime/spvfuse_opencl.h runtime/queue/ runtime/devices/shared.h \
    runtime/devices/cpu/cpu.h runtime/devices/check/check_open.h runtime/cache/cache.h runtime/system/

# Edges "FROM TO SYMBOL FILE" between folders of passes/: FROM's FILE uses a symbol that TO defines.
edges=$(nm -gA "$build"/passes/*/*.o "$build/passes/pipeline.o" | awk '
    { sub(/\.o:.*/, "", $1); n = split($1, part, "/"); print $(NF - 1), $NF, part[n - 1], part[n] ".c" }
' | awk '
    $1 != "U" { at[$2] = $3; next }
    { used[++n] = $0 }
    END { for (k = 1; k <= n; k++) {
        split(used[k], use)
        to = at[use[2]]
        if (to != "" && to != use[3]) print use[3], to, use[2], use[4]
    } }')

# The driver calls passes; fusion calls the driver; all use analyses.
bad=$(echo "$edges" | grep -vE '^(passes [a-z]+|[a-z]+ analysis|fusion passes) ')
if [ -n "$edges" ] && [ -z "$bad" ]; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    printf 'a folder of passes/ uses a symbol of another:\n%s\n' "$bad"
fi

# Files of these folders use each other's symbols in one direction: drivers use helpers, and no two
# files use each other, not even through others.
for folder in codegen/native codegen/object codegen/regalloc codegen/spirv codegen/ptx $machines; do
    circle=$(git ls-files "$folder/*.c" | sed "s|^|$build/|; s|c$|o|" | xargs nm -gA 2>/dev/null | awk '
        { sub(/:.*/, "", $1) }
        $(NF - 1) != "U" { at[$NF] = $1; next }
        { used[++n] = $NF; by[n] = $1 }
        END { for (k = 1; k <= n; k++)
            if (at[used[k]] != "" && at[used[k]] != by[k]) print by[k], at[used[k]] }' | tsort 2>&1 >/dev/null)
    if [ -z "$circle" ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf '%s: files use each other in a circle:\n%s\n' "$folder" "$circle"
    fi
done

# Machines are known to their folder and to the registry; elsewhere they are names in text.
named=$(grep -rniE 'x86' ir frontend passes runtime --include='*.[ch]' |
    grep -vE ':[0-9]+: ?(/\*| \*)|"[^"]*(x86)[^"]*"|/\*[^*]*(x86)')
if [ -z "$named" ]; then
    passed=$((passed + 1))
else
    failed=$((failed + 1))
    printf 'a machine is named outside of codegen/:\n%s\n' "$named"
fi

# No folder is left out, here or on the page, where machines have one row, and devices too.
for folder in $(git ls-files ir frontend passes codegen runtime | sed -n 's|/[^/]*\.[ch]$||p' | sort -u); do
    case "$checked " in
    *" $folder "*)
        case "$machines MACHINE $devices " in
        *" $folder "*MACHINE*) page=codegen/MACHINE ;;
        *" $folder "*) page=runtime/devices/DEVICE ;;
        *) page=$folder ;;
        esac
        grep -q "^| \`$page/\` |" docs/ARCHITECTURE.md && continue
        ;;
    esac
    failed=$((failed + 1))
    echo "$folder: has no line in tests/arrows.sh or docs/ARCHITECTURE.md"
done
echo "arrows: $passed passed, $failed failed"
[ "$failed" = 0 ]

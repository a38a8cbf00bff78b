#!/bin/sh
# devices.sh BUILD: `spvfuse devices`, as text and as JSON: keys, and sizes that are those of this machine.
set -u
build=$(cd "$1" && pwd)
# shellcheck source=tests/count.sh
. tests/count.sh
spvfuse=$build/spvfuse

"$spvfuse" devices --json >"$work/json"
"$spvfuse" devices -v --json >"$work/all.json"
"$spvfuse" devices >"$work/text"
is_json() { "$build/tests/json" <"$1"; }
check "JSON" is_json "$work/json"
check "JSON of all" is_json "$work/all.json"

# The object of a device, by its name; each begins with it.
device() { sed 's/{"name":/\n&/g' "${2-$work/json}" | grep "^{\"name\":\"$1\""; }
# value KEY: of the object on standard input, a number or a text.
value() { sed 's/.*"'"$1"'":\("[^"]*"\|[0-9][0-9]*\|\[[^]]*\]\|null\|true\|false\).*/\1/'; }
is() { # DEVICE KEY VALUE
    got=$(device "$1" | value "$2")
    [ "$got" = "$3" ] || { echo "$1: $2 is $got, not $3"; return 1; }
}
is_least() { # DEVICE KEY NUMBER
    got=$(device "$1" | value "$2")
    [ "$got" -ge "$3" ] || { echo "$1: $2 is $got, less than $3"; return 1; }
}
# The keys of each device are these, in this order.
keys='name description takes_spirv usable why_not can subgroup_size sizes version target parallel vector_bytes memory
    local_memory group_items group_size groups subgroup_sizes'
has_keys() {
    sed 's/{"name":/\n&/g' "$1" | grep '^{' | while read -r line; do
        found=$(echo "$line" | grep -o '"[a-z_]*":' | tr -d '":' | xargs)
        [ "$found" = "$(echo $keys)" ] || { echo "$found"; exit 1; }
    done
}
check "keys" has_keys "$work/json"
check "keys of all" has_keys "$work/all.json"

check "check: one thread" is check parallel 1
check "check: no code" is check target null
check "check: no memory of the host" sh -c "! grep -o '{\"name\":\"check\"[^}]*' '$work/json' | grep -q 'host memory'"
check "check: usable" is check usable true
if [ "$(device cpu | value usable)" = true ]; then
    version=$(sed -n 's/^#define SPVF_VERSION_[MP][A-Z]* //p' runtime/spvfuse.h | xargs | tr ' ' .)
    check "cpu: version" is cpu version "\"$version\""
    check "cpu: threads" is cpu parallel "${SPVFUSE_THREADS-$(nproc)}"
    check "cpu: threads that are asked for" sh -c \
        "SPVFUSE_THREADS=3 '$spvfuse' devices --json | grep -q '\"target\":\"[a-z0-9_:]*\",\"parallel\":3,'"
    check "cpu: vectors" is_least cpu vector_bytes 16
    check "cpu: memory" is_least cpu memory 16777216
    check "cpu: sub-groups" is cpu subgroup_sizes '[1,2,4,8,16,32,64]'
    items=$(device cpu | value group_items)
    check "cpu: a group" is_least cpu group_items 1024
    check "cpu: along each axis" is cpu group_size "[$items,$items,$items]"
    # The level is one that code can be made for, and the text names it.
    target=$(device cpu | value target | tr -d '"')
    echo 'target 64
kernel @k() {
entry:
  ret
}' >"$work/k.ir"
    check "cpu: its target" "$spvfuse" compile "$work/k.ir" -t "$target" -o "$work/k.o"
    check "cpu: its level" grep -q "^cpu .*-${target#*:}, " "$work/text"
fi
# A kind that the machine has none of is listed with -v, with its reason, and without sizes.
for kind in opencl cuda; do
    grep -q "\"name\":\"$kind:" "$work/json" && continue
    absent() {
        device $kind "$work/all.json" | grep -q '"usable":false,"why_not":"' &&
            device $kind "$work/all.json" | grep -q '"version":null,"target":null,"parallel":0,'
    }
    check "$kind is absent" absent
done
finish

#!/bin/sh
# growth.sh BUILD: code of vector loops does not explode.  Kernels whose vector form is many times as
# large as they are, at the most lanes and at as many as pay: with twice the statements, code is at
# most 2.2 times as large, and each compile ends within 20 seconds.
set -u
spvfuse=$PWD/$1/spvfuse
# shellcheck source=tests/count.sh
. tests/count.sh
cd "$work" || exit 1

# kernel KIND COUNT: so many statements; each takes the value %v of the one before.
kernel() {
    awk -v kind="$1" -v n="$2" '
    function line(text, k) { gsub(/#\+/, k + 1, text); gsub(/#/, k, text); print text }
    # An element of a private array that the item chooses is read and written.
    function chosen(k) {
        line("  %m#: i32 = and %v#, 15\n  %z#: i64 = zext %m#\n  %b#: i64 = shl %z#, 2", k)
        line("  %c#: ptr.private = ptradd %a, %b#\n  %l#: i32 = load %c# align 4", k)
        line("  %w#: i32 = add %l#, %v#\n  store %w#, %c# align 4\n  %v#+: i32 = xor %w#, 5", k)
    }
    # Bytes of structures of 16.
    function members(k, c) {
        line("  %b#: ptr.global = ptradd %x, " k * 256 "\n  %r#: ptr.global = ptradd %b#, %j", k)
        for (c = 0; c < 16; c++) {
            line("  %c#_" c ": ptr.global = ptradd %r#, " c "\n  %l#_" c ": i8 = load %c#_" c " align 1", k)
            line("  %s#_" c ": i8 = add %l#_" c ", " (c ? "%s#_" c - 1 : 1), k)
        }
        line("  %e#: i32 = zext %s#_15\n  %v#+: i32 = add %v#, %e#", k)
    }
    # Vectors at indices from memory.
    function gathers(k) {
        line("  %m#: i32 = and %v#, 1023\n  %z#: i64 = zext %m#\n  %b#: i64 = shl %z#, 4", k)
        line("  %c#: ptr.global = ptradd %x, %b#\n  %l#: v4i32 = load %c# align 4", k)
        line("  %f#: i32 = extract %l#, i32 0\n  %g#: i32 = extract %l#, i32 3\n  %v#+: i32 = mul %f#, %g#", k)
    }
    # Arms with a division and a store.
    function arms(k) {
        line("  %t#: i1 = slt %v#, i32 #\n  br %t#, y#, n#\ny#:\n  %u#: i32 = sdiv 1000, %v#", k)
        line("  store %u#, %q align 4\n  jmp n#\nn#:", k)
        line("  %v#+: i32 = phi [" (k ? "n" k - 1 : "entry") ": %v#, y#: %u#]", k)
    }
    # A function with branches and tables.
    function functions(k) {
        line("  %f#: f32 = uitofp %v#\n  %g#: f32 = tan %f#\n  %h#: i32 = bitcast %g#", k)
        line("  %v#+: i32 = add %h#, 1", k)
    }
    # All tests lead to one block if they hold.
    function exits(k) {
        line("  %c#: i1 = eq %v#, i32 #\n  br %c#, out, t#\nt#:\n  %v#+: i32 = add %v#, 3", k)
        values = values sprintf("%s: %%v%d, ", k ? "t" (k - 1) : "entry", k)
    }
    # A value of another item, which waits for it: each wait begins a loop over items.
    function waits(k) {
        line("  barrier workgroup workgroup seq_cst local\n  store %v#, %s align 4", k)
        line("  barrier workgroup workgroup seq_cst local\n  %l#: i32 = load %t align 4", k)
        line("  %v#+: i32 = mul %l#, %v#", k)
    }
    BEGIN {
        if (kind == "waits") print "target 64\n@part: local [1024 x i32] align 4"
        print (kind == "waits" ? "" : "target 64\n") "kernel @k(%x: ptr.global of i32, %y: ptr.global of i32) {\nentry:"
        if (kind == "chosen") print "  %a: ptr.private = alloca [16 x i32] align 4"
        print "  %i: i64 = global_id 0\n  %o: i64 = shl %i, 2\n  %j: i64 = shl %i, 4"
        print "  %p: ptr.global = ptradd %x, %o\n  %q: ptr.global = ptradd %y, %o"
        print "  %v0: i32 = load %p align 4"
        if (kind == "waits") {
            print "  %h: i64 = local_id 0\n  %f: i64 = shl %h, 2\n  %s: ptr.local = ptradd @part, %f"
            print "  %g: i64 = xor %f, 512\n  %t: ptr.local = ptradd @part, %g"
        }
        if (kind == "chosen") print "  fill %a, i8 0, i64 64 align 4"
        for (k = 0; k < n; k++) {
            if (kind == "chosen") chosen(k)
            if (kind == "members") members(k)
            if (kind == "gathers") gathers(k)
            if (kind == "arms") arms(k)
            if (kind == "functions") functions(k)
            if (kind == "exits") exits(k)
            if (kind == "waits") waits(k)
        }
        last = "v" n
        if (kind == "exits") {
            printf "  jmp out\nout:\n  %%last: i32 = phi [%st%d: %%v%d]\n", values, n - 1, n
            last = "last"
        }
        print "  store %" last ", %q align 4\n  ret\n}"
    }' >k.ir
}

# The bytes of the object.
size_of() {
    timeout 20 "$spvfuse" compile -t "x86_64:$1" k.ir -o k.o >said 2>&1 && wc -c <k.o
}

# grows KIND COUNT TARGET
grows() {
    kernel "$1" "$2"
    small=$(size_of "$3") || small=0
    kernel "$1" $(($2 * 2))
    large=$(size_of "$3") || large=0
    if [ "$small" -gt 0 ] && [ "$large" -gt 0 ] && [ $((large * 10)) -le $((small * 22)) ]; then
        passed
    else
        failed "$1 at $3: $small bytes, then $large; $(cat said)"
    fi
}

for target in v4,simd=64 v4 v2,simd=64 v2; do
    grows chosen 16 "$target"
    grows members 4 "$target"
    grows gathers 16 "$target"
    grows arms 16 "$target"
    grows functions 3 "$target"
    grows exits 50 "$target"
    grows waits 24 "$target"
done

# There is no limit for the number of loops.
kernel waits 100
"$spvfuse" compile -t x86_64:v4,simd=16 k.ir -v -o k.o >said 2>&1
vectors=$(grep -c "a loop runs 16 work-items at a time" said)
if [ "$vectors" -ge 200 ]; then passed; else failed "100 waits: $vectors loops are vectors"; fi
finish

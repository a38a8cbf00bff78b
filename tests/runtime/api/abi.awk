# abi.awk -v mode=MODE HEADER…: the structs of the public headers, each of which is
#
#   sized   begins with `size`, which the caller sets
#   fixed   never changes; its comment says so
#   grows   made by the library, and reached by pointers
#
# check     says what cannot grow and has to: a struct by value in another one, in a list, or in a
#           result; exit status 1
# list      a program in C that prints sizes and offsets
# old       the headers without the last members of structs that may grow: those of an earlier version
# future    the headers with one more member at the end of each of them
#
# A header is read as far as our style of writing headers goes, as runtime/packaging/reference.c does.
# `size` is told apart from the size of something else by being the first member.

function strip(text,    before, at) { # without comments
    while ((at = index(text, "/*")) > 0) {
        before = substr(text, 1, at - 1)
        text = substr(text, at)
        text = before " " substr(text, index(text, "*/") + 2)
    }
    gsub(/[ \t\n]+/, " ", text)
    return text
}

function trim(text) {
    sub(/^ +/, "", text)
    sub(/ +$/, "", text)
    return text
}

function kind_of(name, comment, first) {
    if (comment ~ /Fixed/) return "fixed"
    return first == "size_t size" ? "sized" : "grows"
}

# The names that a statement declares; the type of each is the statement.
function note_members(s, statement,    n, k, part, name) {
    if (match(statement, /\(\*[a-z_]+\)/)) {
        member[s, ++members[s]] = substr(statement, RSTART + 2, RLENGTH - 3)
        type[s, members[s]] = "function"
        return
    }
    n = split(statement, part, ",")
    for (k = 1; k <= n; k++) {
        name = part[k]
        sub(/\[.*/, "", name)
        name = trim(name)
        sub(/^.*[ *]/, "", name)
        member[s, ++members[s]] = name
        type[s, members[s]] = statement
    }
}

function end_struct(text,    body, n, k, name, statement, s) {
    text = strip(text)
    name = text
    if (name ~ /} ;?$|};$/) {
        sub(/ \{.*/, "", name)
        sub(/^.*struct /, "", name)
    } else {
        sub(/^.*} /, "", name)
        sub(/;.*/, "", name)
    }
    body = text
    sub(/^[^{]*\{/, "", body)
    sub(/}[^}]*$/, "", body)
    s = ++structs
    struct[s] = name
    open[s] = substr(text, 1, index(text, "{"))
    close_[s] = text ~ /};$/ ? "};" : "} " name ";"
    n = split(body, statement, ";")
    for (k = 1; k < n; k++) {
        statement[k] = trim(statement[k])
        line[s, k] = statement[k]
        note_members(s, statement[k])
    }
    lines[s] = n - 1
    kind[name] = kind_of(name, comment, statement[1])
    if (mode == "old" || mode == "future") print_struct(s)
}

function print_struct(s,    k, n) {
    n = lines[s]
    if (mode == "old" && kind[struct[s]] != "fixed" && n > 1) n--
    print open[s]
    for (k = 1; k <= n; k++) print "    " line[s, k] ";"
    if (mode == "future" && kind[struct[s]] != "fixed") print "    uint64_t newer;"
    print close_[s]
}

function complain(what) {
    print what
    bad = 1
}

# The struct that is meant by a type, and how many stars follow.
function named_in(text,    name) {
    if (!match(text, /spvf_[a-z_]+/)) return ""
    name = substr(text, RSTART, RLENGTH)
    rest = substr(text, RSTART + RLENGTH)
    stars = gsub(/\*/, "*", rest)
    return name in kind ? name : ""
}

function check_members(s,    k, name) {
    for (k = 1; k <= members[s]; k++) {
        if (type[s, k] == "function" || (name = named_in(type[s, k])) == "") continue
        if (kind[name] == "fixed") continue
        if (!stars) complain(struct[s] "." member[s, k] ": " name " may grow, and is no pointer")
        if (kind[name] == "grows" && stars == 1 && member[s, k + 1] ~ /_count$/)
            complain(struct[s] "." member[s, k] ": a list of " name ", which may grow")
        if (kind[name] == "sized" && member[s, k + 1] ~ /_count$/)
            complain(struct[s] "." member[s, k] ": a list of " name ", which has a size")
    }
}

function check_call(text,    name, parts, n, k) {
    text = strip(text)
    if (text ~ /_destroy\(/) return
    sub(/^SPVF_API /, "", text)
    n = split(text, parts, /[(,]/)
    name = named_in(parts[1])
    if (name != "" && kind[name] != "fixed" && parts[1] !~ /\*/)
        complain(parts[1] ": returns " name ", which may grow")
    for (k = 2; k <= n; k++) {
        name = named_in(parts[k])
        if (name == "" || kind[name] == "fixed" || parts[k] ~ /const/) continue
        if (kind[name] == "grows" && stars < 2)
            complain(parts[1] ": fills " name ", which may grow")
    }
}

FNR == 1 { comment = ""; inside = 0; call = "" }
inside {
    body = body "\n" $0
    if ($0 ~ /^}/) { inside = 0; end_struct(body); comment = "" }
    next
}
/^(typedef )?struct( spvf_[a-z_]+)? \{$/ { inside = 1; body = $0; next }
mode == "old" || mode == "future" { print }
/^\/\*/ { comment = $0; said = $0 ~ /\*\//; next }
comment != "" && !said { comment = comment "\n" $0; said = $0 ~ /\*\//; next }
/^SPVF_API/ || call != "" {
    call = call " " $0
    if ($0 ~ /;/) { calls[++ncalls] = call; call = "" }
}
{ comment = "" }

END {
    if (mode == "check") {
        for (s = 1; s <= structs; s++) check_members(s)
        for (k = 1; k <= ncalls; k++) check_call(calls[k])
        exit bad
    }
    if (mode != "list") exit
    print "#include \"runtime/spvfuse_container.h\"\n#include \"runtime/spvfuse_queue.h\"\n#include <stdio.h>"
    print "int main(void) {"
    for (s = 1; s <= structs; s++) {
        printf "printf(\"%s %s %%zu\\n\", sizeof(%s));\n", struct[s], kind[struct[s]], struct[s]
        for (k = 1; k <= members[s]; k++)
            printf "printf(\"    %s %%zu %%zu\\n\", offsetof(%s, %s), sizeof ((%s *)0)->%s);\n", member[s, k],
                struct[s], member[s, k], struct[s], member[s, k]
    }
    print "}"
}

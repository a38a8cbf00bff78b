# references.awk: awk -f references.awk docs/REFERENCES.md FILE… compares the papers of the page with citations.
#
# A citation is the name of the first author and, at most 220 characters later, the year, whatever titles and signs
# of comments come between: `Havlak's ("Nesting …", 1997)`.  Prints each entry of the page that no source cites
# (of the pages, only the one of a planned stage is a source), and each citation in a source or page that has no
# entry.  A year is a citation if it follows a name, a quoted title or a conference.
function flat(line) {
    sub(/^[ \t]*(\/\*|\*|;|#|\/\/)+ ?/, "", line)
    gsub(/[ \t]+/, " ", line)
    return line
}

function cites(text, name, year,    at, from) {
    for (from = 1; (at = index(substr(text, from), name)) > 0; from += at)
        if (index(substr(text, from + at, 220), year)) return 1
    return 0
}

# True if an entry has this year, and its first author is in the text before the year.
function listed(before, year,    i, entry) {
    for (i = 1; i <= entries; i++)
        if (years[i] == year && index(before, names[i])) return 1
    return 0
}

function compare(file, text,    i, at, from, year, before, is_source) {
    is_source = file !~ /\.md$/ || file ~ /VECTORIZER\.md$/
    for (i = 1; i <= entries; i++)
        if (!used[i] && is_source)
            used[i] = years[i] ? cites(text, names[i], years[i]) : index(text, names[i])
    for (from = 1; match(substr(text, from), /(19[5-9]|20[0-2])[0-9][^0-9A-Za-z_-]/); from += RSTART + 3) {
        at = from + RSTART - 1
        year = substr(text, at, 4)
        before = substr(text, at > 220 ? at - 220 : 1, at > 220 ? 220 : at - 1)
        if (before ~ /([A-Z][a-z]+( et al\.)?|"|POPL|PLDI|TOPLAS)[ ,]*\(?$/ &&
            before !~ /(January|February|March|April|May|June|July|August|September|October|November|December) $/ &&
            !listed(before, year))
            print file ": not in docs/REFERENCES.md: " substr(before, length(before) - 60) year
    }
}

FILENAME == ARGV[1] {
    if (/^- [^:]+:/) {
        key = substr($0, 3, index($0, ":") - 3)
        entries++
        names[entries] = key
        if (match(key, / (19|20)[0-9][0-9]$/)) {
            years[entries] = substr(key, RSTART + 1)
            names[entries] = substr(key, 1, RSTART - 1)
        }
        keys[entries] = key
    }
    next
}

FNR == 1 {
    if (file) compare(file, text)
    file = FILENAME
    text = ""
}

{ text = text flat($0) " " }

END {
    compare(file, text)
    for (i = 1; i <= entries; i++)
        if (!used[i]) print "docs/REFERENCES.md: no source cites " keys[i]
}

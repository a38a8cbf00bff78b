# mirror.sh — to be sourced: the mirror that this machine's apt uses.
mirror() {
    {
        cat /etc/apt/sources.list.d/*.sources 2>/dev/null |
            awk '/^URIs:/ && $2 !~ /security/ { print $2 }'
        awk '/^deb / && $0 !~ /security/ { print $2 }' /etc/apt/sources.list 2>/dev/null
    } | head -n 1
}

# merge.awk: modules of PTX for one processor as one module, in which the kernels and variables of
# FOLDER/NAME.ptx are called NAME$KERNEL, and so on.  One run of ptxas costs less than one for each.
# Prints nothing: the parts are written to the files `head` and `body`.

# Addresses of variables in the initial value of another one: "{x+8, y+0}".
function rename_addresses(text,   done, name) {
    done = ""
    while (match(text, /[ {][A-Za-z_$][A-Za-z0-9_$]*\+/)) {
        name = substr(text, RSTART + 1, RLENGTH - 2)
        done = done substr(text, 1, RSTART) (name in variable ? module : "") name "+"
        text = substr(text, RSTART + RLENGTH)
    }
    return done text
}

FNR == 1 {
    module = FILENAME
    sub(/.*\//, "", module)
    sub(/\.ptx$/, "", module)
    gsub(/[^A-Za-z0-9_]/, "_", module)
    module = module "$"
    split("", variable)
}
/^\.version/ { if ($2 + 0 > version) version = $2 + 0; next }
/^\.target/ { target = $0; next }
/^\.address_size/ || $0 == "" { next }
# Memory whose size a launch gives, and what a work-group does together, are there once.
/^\.extern \.shared/ || / \$group\[/ { if (!shared[$0]++) print $0 >body; next }
/^\.(global|shared) / {
    $0 = rename_addresses($0)
    match($0, /[^ ]+\[/)
    variable[substr($0, RSTART, RLENGTH - 1)] = 1
    $0 = substr($0, 1, RSTART - 1) module substr($0, RSTART)
}
/^\.visible \.entry/ { $3 = module $3 }
/\$(param_|offset_|work_dim)/ {
    at = match($0, /[A-Za-z_][A-Za-z0-9_$]*\$(param_|offset_|work_dim)/)
    $0 = substr($0, 1, at - 1) module substr($0, at)
}
/^\tmov\.u64 / {
    name = substr($3, 1, length($3) - 1)
    if (name in variable) sub(/[^ ]*;$/, module name ";")
}
{ print >body }
END { printf ".version %.1f\n%s\n.address_size 64\n", version, target >head }

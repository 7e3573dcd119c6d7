# SPDX-License-Identifier: MIT
# reach.awk: which global functions of some objects reach which others by calls and by tables of
# functions, out of `objdump -t -r OBJECT...` (compiled with -ffunction-sections, so that each
# function has a section of its own, and a relocation for all that it names outside of it).
#
#   -v targets="f g"   what is looked for
#   -v stops="h"       global functions whose own calls do not count
#
# Prints a line for each global symbol that reaches one: its name, then the targets.

/file format/ { object++; next }
/^RELOCATION RECORDS FOR \[/ {
    section = $0
    sub(/^RELOCATION RECORDS FOR \[/, "", section)
    sub(/\]:$/, "", section)
    next
}
/^[0-9a-f]+ +R_/ { # OFFSET TYPE VALUE
    if (section ~ /^\.(rela?\.)?(debug|eh_frame)/)
        next
    value = $3
    sub(/[-+]0x[0-9a-f]+$/, "", value)
    used_in[++uses] = object ":" section
    use_object[uses] = object
    used[uses] = value
    next
}
/\t/ { # VALUE FLAGS SECTION<tab>SIZE NAME
    split($0, half, "\t")
    words = split(half[1], word, " ")
    name = $NF
    place = object ":" word[words]
    if (word[words] == "*UND*" || word[words] == "*COM*" || half[1] ~ / d /)
        next
    at[object, name] = place
    if (word[2] ~ /^[gwuV!]/) {
        exported[++exports] = name
        home[name] = place
    }
    next
}
END {
    wanted = split(targets, target, " ")
    for (i = split(stops, stop, " "); i > 0; i--)
        is_stop[stop[i]] = 1
    for (t = 1; t <= wanted; t++) {
        split("", reaches)
        do {
            changed = 0
            for (u = 1; u <= uses; u++) {
                if (reaches[used_in[u]])
                    continue
                name = used[u]
                if (name == target[t])
                    hit = 1
                else if (is_stop[name])
                    hit = 0
                else if ((use_object[u], name) in at)
                    hit = reaches[at[use_object[u], name]]
                else if (name in home)
                    hit = reaches[home[name]]
                else # a section's own name
                    hit = reaches[use_object[u] ":" name]
                if (hit)
                    changed = reaches[used_in[u]] = 1
            }
        } while (changed)
        for (e = 1; e <= exports; e++)
            if (reaches[home[exported[e]]])
                found[e] = found[e] " " target[t]
    }
    for (e = 1; e <= exports; e++)
        if (found[e] != "")
            print exported[e] found[e]
}

/* SPDX-License-Identifier: MIT
 * demangle.c: demangles the part of the Itanium C++ ABI that messages need: _Z3sumPf, _ZN1a1b3sumE,
 * _ZL5table, _ZZ4hostvE5count.
 */
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "names.h"

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Parses one <length><identifier>; null if there is none. */
static const char *take_identifier(const char **at)
{
    char *rest;
    size_t length;

    if (!is_digit(**at))
        return NULL;
    length = strtoul(*at, &rest, 10);
    if (length > strlen(rest))
        return NULL;
    *at = rest + length;
    return cc_copy(rest, length);
}

/* `_ZZ <function> E <name>`: after the last E that an identifier follows. */
static const char *local_part(const char *at)
{
    const char *found = NULL;

    for (const char *c = at; *c != 0; c++)
        if (*c == 'E' && is_digit(c[1]))
            found = c + 1;
    return found;
}

/* `nested`: names up to an E; else a single name, followed by the parameters' types. */
static void read_names(const char *at, bool nested, struct cc_text *scopes, const char **last)
{
    bool more = true;

    while (more) {
        const char *name;
        while (*at == 'K' || *at == 'V' || *at == 'r' || *at == 'L')
            at++;
        if (cc_starts(at, "St")) {
            at += 2;
            name = "std";
        } else {
            name = take_identifier(&at);
            more = nested;
        }
        if (name == NULL)
            return;
        if (cc_starts(name, "_GLOBAL__N"))
            continue;
        if (scopes->length != 0)
            cc_puts(scopes, "::");
        cc_puts(scopes, name);
        *last = name;
    }
}

const char *cc_plain_name(const char *symbol, const char **qualified)
{
    struct cc_text scopes = {0};
    const char *last = NULL, *at = symbol;

    if (strchr(symbol, ':') != NULL) /* "unit:symbol" */
        at = symbol = strchr(symbol, ':') + 1;
    *qualified = symbol;
    if (!cc_starts(at, "_Z"))
        return symbol;
    at += 2;
    if (cc_starts(at, "GV"))
        at += 2;
    if (*at == 'Z')
        at = local_part(at);
    bool nested = at != NULL && *at == 'N';
    if (at != NULL)
        read_names(at + nested, nested, &scopes, &last);
    if (last == NULL)
        return symbol;
    *qualified = scopes.data;
    return last;
}

/* _ZN <qualifiers> <length><name> L<length><name> */
static bool has_local_part(const char *at)
{
    for (;;) {
        at += strspn(at, "KVr");
        if (*at == 'L')
            return true;
        if (cc_starts(at, "St"))
            at += 2;
        else if (take_identifier(&at) == NULL)
            return false;
    }
}

bool cc_is_local(const char *symbol)
{
    return strstr(symbol, "_ZL") != NULL || strstr(symbol, "_GLOBAL__N_") != NULL ||
           (cc_starts(symbol, "_ZN") && has_local_part(symbol + 3));
}

/* SPDX-License-Identifier: MIT
 * option_table.h: all options: their names and how each is handled.
 */
#ifndef VGPU_CC_OPTION_TABLE_H
#define VGPU_CC_OPTION_TABLE_H

#include "options.h"

enum cc_option_kind {
    IGNORE, /* means nothing on a virtual GPU */
    REFUSE, /* `text`: why */
    ANSWER,
    SET_ACTION,
    RDC_ACTION, /* -dc, -dlink */
    SWITCH,     /* a bool of struct cc_options */
    TEXT,       /* a const char * of it: the value */
    NAME,       /* the same: the option's name */
    PASS,       /* to a list of it, with the value behind the name */
    PASS_TWO,   /* the same, as a word of its own */
    PASS_LIST,  /* PASS for each part of "a,b" */
    PASS_TWO_LIST,
    INSTEAD,      /* to a list of it: `text`, and the value behind "=" */
    LIST,         /* to a list of it: each part of "a,b" */
    HOST_LIST,    /* -Xcompiler a,b */
    LINK_LIST,    /* -Xlinker a,b */
    LIBRARY,      /* in its place among the inputs */
    DEVICE_DEBUG, /* -G */
    LANGUAGE,
    DEFAULT_STREAM,
    RDC,
    CCBIN,
    WERROR,
    OPTIONS_FILE
};

enum cc_option_value {
    ALONE,
    LEVEL,  /* -O, which a figure may follow */
    VALUE,  /* -std=c++17, -std c++17 */
    JOINED, /* -Idir, too */
};

struct cc_option {
    const char *names; /* words, the first for commands; two hyphens are as good as one */
    enum cc_option_kind kind;
    enum cc_option_value value;
    int number;       /* enum cc_action, or the offset of what is set */
    const char *text; /* see the kinds; of others the values: words, CC_NUMBER, or null for all */
};

#define CC_NUMBER "a number"

/* Finds the option, and its value if the argument includes one (-Idir, -std=c++17); null: not in
 * the table. */
const struct cc_option *cc_find_option(const char *argument, const char **value);

/* The names with one hyphen that options of the kind have. */
struct cc_list cc_names_of(enum cc_option_kind kind);

#endif

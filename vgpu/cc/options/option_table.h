/* SPDX-License-Identifier: MIT
 * option_table.h: all options: their names and how each is handled.
 */
#ifndef VGPU_CC_OPTION_TABLE_H
#define VGPU_CC_OPTION_TABLE_H

#include "options.h"

enum cc_option_kind {
    IGNORE, /* means nothing on a virtual GPU */
    REFUSE, /* `text`: why */
    QUESTION,
    ACTION,
    RDC_ACTION, /* -dc, -dlink */
    SWITCH,     /* a bool of struct cc_options */
    TEXT,       /* a const char * of it: `text`, or the value where that is null */
    PASS,       /* to a list of it: `text`, with the value for %s */
    HOST_FLAGS, /* -Xcompiler a,b */
    LIBRARIES,  /* in their places among the inputs */
    LANGUAGE,
    DEFAULT_STREAM,
    CCBIN,
    WERROR,
    OPTIONS_FILES
};

/* Whether there is a value, and which one; to be combined. */
enum cc_option_value {
    ALONE = 0,
    VALUE = 1,   /* -std=c++17, -std c++17 */
    JOINED = 2,  /* -Idir, too */
    LEVEL = 4,   /* -O, which a figure may follow */
    LISTED = 8,  /* a,b: PASS are added for each */
    NUMBER = 16, /* the value is one */
    ONE_OF = 32  /* the value is one of the words in `text` */
};

struct cc_option {
    const char *names; /* words, the first for messages; two hyphens are as good as one */
    enum cc_option_kind kind;
    int value;        /* enum cc_option_value */
    int number;       /* enum cc_action, cc_question, or the offset of what is set */
    const char *text; /* see the kinds and ONE_OF */
};

/* Finds the option, and its value if the argument includes one (-Idir, -std=c++17); null: not in
 * the table. */
const struct cc_option *cc_find_option(const char *argument, const char **value);

/* The names with one hyphen that options of the kind have. */
struct cc_list cc_names_of(enum cc_option_kind kind);

/* help.c: to standard output. */
enum cc_question { CC_HELP, CC_VERSION, CC_GPU_CODE, CC_GPU_ARCH };
void cc_answer(enum cc_question question);

#endif

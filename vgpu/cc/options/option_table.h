/* SPDX-License-Identifier: MIT
 * option_table.h: every option by its names, and what kind of thing happens to it.
 */
#ifndef VGPU_CC_OPTION_TABLE_H
#define VGPU_CC_OPTION_TABLE_H

#include "options.h"

enum cc_option_kind {
    SET_ACTION,
    OUTPUT,
    COMMON,     /* with its value to both passes, in the short spelling */
    SYSTEM_DIR, /* -isystem */
    HOST_FLAG,  /* to the host compiler */
    HOST_LIST,  /* -Xcompiler a,b */
    LINK_VALUE, /* with its value to the linker, in the short spelling */
    LINK_LIST,  /* -Xlinker a,b */
    LIBRARY,    /* in its place among the inputs */
    LANGUAGE,
    STANDARD,
    DEFAULT_STREAM,
    DEPS_FLAG,
    DEPS_VALUE,
    IGNORE, /* means nothing on a virtual GPU */
    IGNORE_VALUE,
    CCBIN,
    DEVICE_DEBUG,
    WERROR,
    RDC,        /* -rdc=true: device code that other files' may use */
    RDC_ACTION, /* -dc, -dlink */
    REFUSE,
    SWITCH, /* a bool of struct cc_options */
    TEXT,   /* a const char * of struct cc_options */
    ANSWER
};

struct cc_option {
    const char *name, *longer;
    enum cc_option_kind kind;
    bool joined;       /* the value may follow the short name directly */
    int number;        /* enum cc_action, or the offset of what SWITCH and TEXT set */
    const char *spelt; /* how it is passed on; null: as `name` */
};

/* The option that the argument is, with its value where it has one in itself (-Idir, -std=c++17);
 * null: it is none of the table's. */
const struct cc_option *cc_find_option(const char *argument, const char **value);

#endif

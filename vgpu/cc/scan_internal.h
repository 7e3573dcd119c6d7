/* SPDX-License-Identifier: MIT
 * scan_internal.h: between scan.c (scopes) and declaration.c (one declaration).
 */
#ifndef VGPU_CC_SCAN_INTERNAL_H
#define VGPU_CC_SCAN_INTERNAL_H

#include "scan.h"

struct cc_scan {
    const struct cc_source *source;
    struct cc_decls *decls;
};

struct cc_scope {
    const char *name; /* "a::b::" */
    bool in_class, in_template_class, internal;
};

/* The declarations of the tokens [from, to). */
void cc_scan_scope(struct cc_scan *scan, int from, int to, const struct cc_scope *scope);

/* The declaration that starts at `at`; where the next one starts. */
int cc_scan_declaration(struct cc_scan *scan, int at, int to, const struct cc_scope *scope);

/* A further declaration with no part found yet. Valid until the next call. */
struct cc_decl *cc_new_decl(struct cc_scan *scan, int first);

#endif

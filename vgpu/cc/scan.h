/* SPDX-License-Identifier: MIT
 * scan.h: which functions and variables the tokens declare.
 *
 * This is not a C++ parser: it knows scopes, specifiers and where a declaration's name, parameters
 * and body are, which is what the two passes need. All indices are of tokens; -1: there is none.
 */
#ifndef VGPU_CC_SCAN_H
#define VGPU_CC_SCAN_H

#include "source.h"
#include "words.h"

enum cc_decl_kind { CC_FUNCTION, CC_VARIABLE, CC_TYPE, CC_ASM };

struct cc_decl {
    enum cc_decl_kind kind;
    unsigned words;   /* CC_GLOBAL, CC_STATIC ... as written in its specifiers */
    int id;           /* its number among all declarations of the source */
    int first, last;  /* whole: from its template header or first specifier to its ; or } */
    int spec;         /* first specifier, behind template headers, extern "C" and [[attributes]] */
    int templ;        /* the < of its innermost template header */
    bool specialised; /* template<>, or an explicit instantiation */
    int name;         /* last identifier of its name, or `operator` */
    int name_from;    /* first token of its (qualified) name */
    int params;       /* the ( of its parameters; params_end: the ) */
    int params_end;
    int init; /* the : of a constructor's initialisers */
    int body; /* the { of its body; body_end: the } */
    int body_end;
    int bounds;     /* the ( behind __launch_bounds__ */
    bool defaulted; /* = default, = delete, = 0 */
    bool operator_name;
    bool in_class, in_template_class;
    bool internal;     /* in an unnamed namespace */
    const char *scope; /* "a::b::" of the scope that it stands in; unnamed namespaces left out */
};

struct cc_decls {
    struct cc_decl *item;
    size_t count, capacity;
};

struct cc_decls *cc_scan(const struct cc_source *source);

/* The function in whose body, parameters or initialisers the token is, or null. */
const struct cc_decl *cc_function_at(const struct cc_decls *decls, int token);

/* Code of the function is compiled for the device, for the host; a plain function: for the host. */
bool cc_runs_on_device(const struct cc_decl *decl);

/* The name as a person writes it, without template arguments: "a::sum". */
const char *cc_decl_name(const struct cc_source *source, const struct cc_decl *decl);

/* The closing > of the list opened by the < at `open`, or -1 when this < opens none. Only fit for
 * places where no comparison can be: template headers, names in declarations. */
int cc_match_angle(const struct cc_source *source, int open);

/* Where the ; is that ends the statement or declaration that `from` is in. */
int cc_statement_end(const struct cc_source *source, int from);

#endif

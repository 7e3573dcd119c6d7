/* SPDX-License-Identifier: MIT
 * compile.h: from files to objects and programs.
 */
#ifndef VGPU_CC_COMPILE_H
#define VGPU_CC_COMPILE_H

#include "options.h"
#include "places.h"

struct cc_job {
    const struct cc_options *options;
    struct cc_places places;
};

/* Compiles a .cu to an object. `unit` numbers the intermediate files. False: errors were told. */
bool cc_compile_cuda(const struct cc_job *job, const char *source, const char *object, int unit);

/* device_link.c: links the device code of those objects and archives that were compiled with
 * -rdc=true and not linked yet, to the object `object`. *made: there was any. */
bool cc_device_link(const struct cc_job *job, const struct cc_list *objects, const char *object,
                    bool *made);

/* ---- commands.c: how the compiler is called ---- */

/* One of the two passes over a .cu. */
enum cc_side { CC_HOST_SIDE, CC_DEVICE_SIDE };

/* Adds the words, which blanks separate. */
void cc_add_words(struct cc_list *list, const char *words);

bool cc_has_word(const struct cc_list *words, const char *word);

enum cc_language cc_language_of(const struct cc_input *input);

/* How macros are treated: left to the compilation, or expanded before it (quotes.h says why). */
enum cc_macros_how { CC_MACROS_LEFT, CC_MACROS_EXPANDED };

/* What clang can: expand them. */
enum cc_macros_how cc_macros_by_default(const struct cc_options *options);

/* `output` null: to standard output, for people. */
struct cc_list cc_preprocess_command(const struct cc_job *job, enum cc_side side,
                                     enum cc_macros_how how, const char *source,
                                     const char *output);
/* -MD and its like, for `object`. */
void cc_add_deps(const struct cc_job *job, struct cc_list *command, const char *source,
                 const char *object);

/* What the text of a file needs: how its macros were treated, and what the device pass cannot leave
 * out because the source uses it. */
struct cc_needs {
    enum cc_macros_how macros;
    bool exceptions, type_information;
};

struct cc_list cc_compile_command(const struct cc_job *job, enum cc_side side,
                                  struct cc_needs needs, const char *text, const char *assembly);
/* `inputs`: assembly or objects; `roots`: symbols that are kept although no table names them. */
struct cc_list cc_image_command(const struct cc_job *job, const struct cc_list *inputs,
                                const struct cc_list *roots, const char *image);
struct cc_list cc_assemble_command(const struct cc_job *job, const char *assembly,
                                   const char *object);
struct cc_list cc_plain_command(const struct cc_job *job, const struct cc_input *input,
                                const char *object);
struct cc_list cc_link_command(const struct cc_job *job, const struct cc_list *objects);

#endif

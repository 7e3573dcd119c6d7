/* SPDX-License-Identifier: MIT
 * lowering.h: what is made of Clang's bitcode: an object of device code, the record that the
 * host's object takes in, and changes to the host's own bitcode. LLVM is loaded before
 * (cc_load_llvm).
 */
#ifndef VGPU_CC_LOWERING_H
#define VGPU_CC_LOWERING_H

#include "device_code.h"
#include "load_llvm.h"

/* Compiles the files together to `object`. `headers`: a file of our own headers; their folder is
 * none of the program's; null where no lines are kept. False: errors were told. */
bool cc_lower(const struct cc_bitcode *file, size_t count, const char *headers, const char *object,
              struct cc_device_code *code);

/* Finds what is wrong in a file whose code is to be linked to others' later. */
bool cc_check_bitcode(const struct cc_bitcode *file, struct cc_device_code *code);

/* ---- fatbin_file.c: the record of fatbin.h, as bytes ---- */

/* Of the image and what is known of it. False: it lacks something, which was said. */
bool cc_make_fatbin(const struct cc_device_code *code, const char *source, const char *data,
                    size_t bytes, struct cc_text *out);

/* Are there __managed__ variables? */
bool cc_fatbin_has_managed(const struct cc_text *fatbin);

/* ---- the host's code, as LLVM of that release reads it ---- */

/* host_variables.c: runs the command, which makes the host's bitcode, and warns of __device__
 * variables that host code reads or writes. */
bool cc_check_host_variables(int release, const struct cc_list *compile, const char *bitcode,
                             const struct cc_device_code *code);

/* host_stubs.c: tells each kernel whose stub is in the host's object and that the device code does
 * not have. The command makes the host's bitcode, which says where that kernel stands. False: there
 * was one. */
bool cc_check_stubs(int release, const struct cc_list *compile, const char *bitcode,
                    const char *object, const struct cc_device_code *code);

/* host_managed.c: the host code in `bitcode`, changed so that it finds __managed__ variables in
 * managed memory, goes to `changed`. */
bool cc_change_managed(int release, const char *bitcode, const char *changed);

#endif

/* SPDX-License-Identifier: MIT
 * lowering.h: lowers Clang's bitcode: device code to an object for this processor, the record that
 * the host's object includes, and changes to the host's own bitcode. LLVM must be loaded before
 * (cc_load_llvm).
 */
#ifndef VGPU_CC_LOWERING_H
#define VGPU_CC_LOWERING_H

#include "device_code.h"
#include "load_llvm.h"

/* Compiles the files together to `object`. `headers`: a file in the folder of our own headers,
 * which are not the program's; null if no line information is kept. False: errors were reported. */
bool cc_lower(const struct cc_bitcode *file, size_t count, const char *headers, const char *object,
              struct cc_device_code *code);

/* Checks a file whose code will be linked to that of others later. */
bool cc_check_bitcode(const struct cc_bitcode *file, struct cc_device_code *code);
/* Checks PTX whose parts will be compiled later. */
bool cc_check_ptx(const struct cc_bitcode *file, struct cc_device_code *code);

/* ---- fatbin_file.c: the record of fatbin.h, as bytes ---- */

/* Builds the record of the image and its tables. False: the image lacks something, which was
 * reported. */
bool cc_make_fatbin(const struct cc_device_code *code, const char *source, const char *data,
                    size_t bytes, struct cc_text *out);

/* ---- host code, as LLVM of that release reads it ---- */

/* host_variables.c: runs the command, which generates the host's bitcode, and warns of __device__
 * variables that host code reads or writes. */
bool cc_check_host_variables(int release, const struct cc_list *compile, const char *bitcode,
                             const struct cc_device_code *code);

/* host_stubs.c: reports each kernel whose stub is in the host's object and which is missing in the
 * device code. The command generates the host's bitcode, which has the kernel's place. False: there
 * was one. */
bool cc_check_stubs(int release, const struct cc_list *compile, const char *bitcode,
                    const char *object, const struct cc_device_code *code);

/* host_managed.c: writes to `changed` the host code in `bitcode`, changed so that it finds
 * __managed__ variables in managed memory. */
bool cc_change_managed(int release, const char *bitcode, const char *changed);

#endif

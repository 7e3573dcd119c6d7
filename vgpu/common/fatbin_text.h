/* SPDX-License-Identifier: MIT
 * fatbin_text.h: a record of device code (fatbin.h) as text. Programs handle PTX as a string that a
 * zero byte ends, so what vgpu-cc -ptx and NVRTC call PTX has none.
 */
#ifndef VGPU_FATBIN_TEXT_H
#define VGPU_FATBIN_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#define VGPU_FATBIN_TEXT "// device code of virtual GPUs, in hexadecimal\n"

/* Both: allocated, by the caller to be freed; null: no memory. The text ends with a zero byte. */
char *vgpu_fatbin_to_text(const void *record, size_t bytes);
/* Null, too: it is no such text, or not a whole one. */
void *vgpu_fatbin_from_text(const char *text);

#endif

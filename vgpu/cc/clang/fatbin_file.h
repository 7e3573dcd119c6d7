/* SPDX-License-Identifier: MIT
 * fatbin_file.h: the record of fatbin.h, as bytes.
 */
#ifndef VGPU_CC_FATBIN_FILE_H
#define VGPU_CC_FATBIN_FILE_H

#include "lower.h"

struct cc_text cc_make_fatbin(const struct cc_device_code *code, const char *source,
                              const char *image, size_t image_bytes);

#endif

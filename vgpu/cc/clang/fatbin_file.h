/* SPDX-License-Identifier: MIT
 * fatbin_file.h: the record of fatbin.h, as bytes.
 */
#ifndef VGPU_CC_FATBIN_FILE_H
#define VGPU_CC_FATBIN_FILE_H

#include "lower.h"

/* Of the image and what is known of it. False: it lacks something, which was said. */
bool cc_make_fatbin(const struct cc_device_code *code, const char *source, const char *data,
                    size_t bytes, struct cc_text *out);

/* Are there __managed__ variables? */
bool cc_fatbin_has_managed(const struct cc_text *fatbin);

#endif

/* SPDX-License-Identifier: MIT
 * image_script.h: how a device image is laid out by the linker.
 */
#ifndef VGPU_CC_IMAGE_SCRIPT_H
#define VGPU_CC_IMAGE_SCRIPT_H

#include <stdbool.h>

/* Writes image.ld and image.ver into the folder of intermediate files. */
bool cc_write_image_scripts(void);

#endif

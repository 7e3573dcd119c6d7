/* SPDX-License-Identifier: MIT
 * globals.h: the symbols of a device object that other files may mean (-rdc=true).
 */
#ifndef VGPU_CC_GLOBALS_H
#define VGPU_CC_GLOBALS_H

#include "marks.h"

/* Host functions, which the device pass compiles too, are made local in the assembly: no device
 * code of another file may find them. What is returned are the other functions that are not: they
 * are kept, since other files may call them. */
struct cc_list cc_device_globals(struct cc_text *assembly, const struct cc_marks *marks);

#endif

/* SPDX-License-Identifier: MIT
 * lower_ptx.h: inline PTX becomes what it means.
 */
#ifndef VGPU_CC_LOWER_PTX_H
#define VGPU_CC_LOWER_PTX_H

#include "module.h"

/* False: a statement is not known or wrong, which was told with its place. */
bool cc_lower_ptx(struct cc_lowering *l);

#endif

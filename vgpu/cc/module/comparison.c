/* SPDX-License-Identifier: MIT
 * comparison.c: see comparison.h.
 */
#include "comparison.h"

int cc_opposite(int how)
{
    static const int opposite[] = {
        [VGPU_EQ] = VGPU_NE,   [VGPU_NE] = VGPU_EQ,   [VGPU_UGT] = VGPU_ULE, [VGPU_UGE] = VGPU_ULT,
        [VGPU_ULT] = VGPU_UGE, [VGPU_ULE] = VGPU_UGT, [VGPU_SGT] = VGPU_SLE, [VGPU_SGE] = VGPU_SLT,
        [VGPU_SLT] = VGPU_SGE, [VGPU_SLE] = VGPU_SGT};
    return opposite[how];
}

int cc_mirrored(int how)
{
    static const int mirrored[] = {
        [VGPU_EQ] = VGPU_EQ,   [VGPU_NE] = VGPU_NE,   [VGPU_UGT] = VGPU_ULT, [VGPU_UGE] = VGPU_ULE,
        [VGPU_ULT] = VGPU_UGT, [VGPU_ULE] = VGPU_UGE, [VGPU_SGT] = VGPU_SLT, [VGPU_SGE] = VGPU_SLE,
        [VGPU_SLT] = VGPU_SGT, [VGPU_SLE] = VGPU_SGE};
    return mirrored[how];
}

/* SPDX-License-Identifier: MIT
 * share.c: the mutant of vgpu/node/clock/share.c that node.oracle must reject, too, under another
 * name.
 */
#include "wrong.h"

#define share_rates wrong_share_rates
#define sharing_new wrong_sharing_new
#define sharing_end wrong_sharing_end
struct sharing *wrong_sharing_new(void);
void wrong_sharing_end(struct sharing *s);
#include "../../node/share_wrong.c"

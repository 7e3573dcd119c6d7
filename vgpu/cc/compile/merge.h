/* SPDX-License-Identifier: MIT
 * merge.h: the compiler's messages of both passes as if it had run once.
 */
#ifndef VGPU_CC_MERGE_H
#define VGPU_CC_MERGE_H

/* The host pass's messages, then those of the device pass that it has not said: they are about
 * device code. The messages themselves are left as they are. */
const char *cc_merge_messages(const char *host, const char *device);

#endif

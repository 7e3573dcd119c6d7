/* SPDX-License-Identifier: MIT
 * merge.h: merges the messages of both of the compiler's passes.
 */
#ifndef VGPU_CC_MERGE_H
#define VGPU_CC_MERGE_H

/* The host pass's messages, then those that only the device pass reports, which are about device
 * code. Messages are not changed. */
const char *cc_merge_messages(const char *host, const char *device);

#endif

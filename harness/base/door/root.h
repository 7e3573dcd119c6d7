/* SPDX-License-Identifier: MIT
 * root.h: paths as a user types them, relative to the root of the checkout.
 */
#ifndef LAB_ROOT_H
#define LAB_ROOT_H

#include <string.h>

static inline const char *lab__from_root(const char *path)
{
    static const char root[] = PEERLAB_ROOT "/";
    return strncmp(path, root, sizeof root - 1) == 0 ? path + sizeof root - 1 : path;
}

#endif

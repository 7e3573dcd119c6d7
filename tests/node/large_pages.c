/* SPDX-License-Identifier: MIT
 * large_pages.c: a library for LD_PRELOAD: this system's pages have 16 KiB, as on some arm64
 * systems.
 */
#include <dlfcn.h>
#include <string.h>
#include <unistd.h>

long sysconf(int name)
{
    static long (*next)(int);
    void *found = next ? NULL : dlsym(RTLD_NEXT, "sysconf");
    if (found)
        memcpy(&next, &found, sizeof next);
    return name == _SC_PAGESIZE ? 16384 : next(name);
}

/* SPDX-License-Identifier: MIT
 * lines.c: stub
 */
#include "lines.h"
void lines_find(int fd, uint64_t address, char *where, uint64_t room)
{
    (void)fd, (void)address, (void)room;
    where[0] = 0;
}

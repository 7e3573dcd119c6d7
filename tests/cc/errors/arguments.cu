// SPDX-License-Identifier: MIT
// Memory that holds no list of arguments would be read as one, without a report.
#include <stdarg.h>

__global__ void kernel(int *p)
{
    va_list list[4];
    va_copy(list[0], *(va_list *)p); //!5 what becomes 'llvm.va_copy' is not allowed in device code
    *p = *(volatile int *)list;
}

// SPDX-License-Identifier: MIT
// A .cu file without device code.
// prints: 0
#include <stdio.h>

int main()
{
    int *p = NULL;
    printf("%d\n", (int)cudaFree(p));
    return 0;
}

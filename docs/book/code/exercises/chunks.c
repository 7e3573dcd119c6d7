/* SPDX-License-Identifier: MIT
 * chunks.c: how long it takes to stage 64 MiB at 55 GB/s in k chunks, each with a fixed 10 us more.
 */
#include <stdio.h>

// book: chunks
static double microseconds(int k)
{
    const double all = 64 * 1024 * 1024 / 55e3, each = 10; /* 55 GB/s are 55,000 bytes a us */
    return (k + 1) * (all / k + each);
}

int main(void)
{
    int best = 1;
    for (int k = 1; k <= 1000; k++)
        if (microseconds(k) < microseconds(best))
            best = k;
    printf("   1 chunk  %8.0f us\n", microseconds(1));
    printf("%4d chunks %8.0f us, the least\n", best, microseconds(best));
    printf("1000 chunks %8.0f us\n", microseconds(1000));
    return 0;
}
// book: end

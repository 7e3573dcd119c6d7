/* SPDX-License-Identifier: MIT
 * times.c: the least time of an all-reduce of 16-bit gradients.
 */
#include <stdio.h>

// book: times
int main(void)
{
    const double billions[] = {1, 7, 70}, rate = 450; /* GB/s a direction: NVLink 4 */
    const int ranks = 8;
    for (int i = 0; i < 3; i++) {
        double gb = 2 * billions[i];                  /* 2 bytes a gradient */
        double sent = 2.0 * (ranks - 1) / ranks * gb; /* by each rank */
        printf("%3.0f B parameters: %5.0f GB, %6.1f GB sent by each, %6.1f ms\n", billions[i], gb,
               sent, sent / rate * 1000);
    }
    return 0;
}
// book: end

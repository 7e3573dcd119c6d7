/* SPDX-License-Identifier: MIT
 * states.c: zero.c with 8-bit momentum and variance: 7 billion parameters on 8 GPUs.
 */
#include <stdio.h>

// book: states
static double gigabytes(int stage, double states) /* states: bytes for each parameter */
{
    const double p = 7, n = 8;
    return states * p / (stage >= 1 ? n : 1) + 2 * p / (stage >= 2 ? n : 1) +
           2 * p / (stage >= 3 ? n : 1);
}

int main(void)
{
    for (int stage = 0; stage <= 3; stage++) {
        double before = gigabytes(stage, 12), now = gigabytes(stage, 4 + 1 + 1);
        printf("stage %d: %6.2f GB, now %6.2f GB, saved %6.2f GB\n", stage, before, now,
               before - now);
    }
    return 0;
}
// book: end

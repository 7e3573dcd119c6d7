/* SPDX-License-Identifier: MIT
 * best.c: the best number of GPUs for 20 ms of work, when each GPU takes 0.25 ms to combine.
 */
#include <stdio.h>

// book: best
int main(void)
{
    const double one = 20.0, each = 0.25; /* milliseconds */
    int best = 1;
    for (int gpus = 1; gpus <= 64; gpus++) {
        double total = one / gpus + each * gpus, least = one / best + each * best;
        if (total < least)
            best = gpus;
    }
    printf("best with %d GPUs: %.2f ms\n", best, one / best + each * best);
    return 0;
}
// book: end

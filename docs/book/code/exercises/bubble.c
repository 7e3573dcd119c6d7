/* SPDX-License-Identifier: MIT
 * bubble.c: how many micro-batches a pipeline needs for a bubble of at most 5 %.
 */
#include <stdio.h>

// book: bubble
int main(void)
{
    for (int stages = 4; stages <= 16; stages *= 2) {
        int batches = 1;
        while (100 * (stages - 1) > 5 * (batches + stages - 1))
            batches++;
        printf("%2d stages: %3d micro-batches\n", stages, batches);
    }
    return 0;
}
// book: end

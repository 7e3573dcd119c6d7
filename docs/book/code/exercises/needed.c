/* SPDX-License-Identifier: MIT
 * needed.c: the least work on one GPU for an efficiency of 0.9, when combining takes 1 ms.
 */
#include <stdio.h>

// book: needed
static double efficiency(double work, int gpus) /* milliseconds on one GPU */
{
    double total = work / gpus + 1.0;
    return work / total / gpus;
}

int main(void)
{
    for (int gpus = 2; gpus <= 8; gpus *= 2) {
        int work = 1;
        while (efficiency(work, gpus) < 0.9 - 1e-9)
            work++;
        printf("%d GPUs: at least %d ms\n", gpus, work);
    }
    return 0;
}
// book: end

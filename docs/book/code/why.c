/* SPDX-License-Identifier: MIT
 * why.c: what splitting 20 ms over several GPUs gives when putting the parts together takes 1 ms.
 */
#include <stdio.h>

// book: why
int main(void)
{
    const double one = 20.0, combine = 1.0; /* milliseconds */
    printf("GPUs  compute  combine  total  speed-up  efficiency\n");
    for (int gpus = 1; gpus <= 16; gpus *= 2) {
        double compute = one / gpus;
        double together = gpus > 1 ? combine : 0;
        double total = compute + together;
        double speed_up = one / total;
        printf("%4d %8.2f %8.2f %6.2f %9.2f %11.2f\n", gpus, compute, together, total, speed_up,
               speed_up / gpus);
    }
    return 0;
}
// book: end

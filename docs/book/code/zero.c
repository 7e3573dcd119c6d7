/* SPDX-License-Identifier: MIT
 * zero.c: memory of each GPU and traffic of ZeRO's stages.
 *
 *     zero BILLIONS GPUS
 */
#include <stdio.h>
#include <stdlib.h>

// book: zero
static double gigabytes(int stage, double p, double n) /* of each GPU, for p billion parameters */
{
    double states = 12 * p, gradients = 2 * p, parameters = 2 * p;
    if (stage >= 1)
        states /= n;
    if (stage >= 2)
        gradients /= n;
    if (stage >= 3)
        parameters /= n;
    return states + gradients + parameters;
}
// book: end

int main(int argc, char **argv)
{
    double p = argc > 1 ? atof(argv[1]) : 7, n = argc > 2 ? atof(argv[2]) : 8;
    printf("%g billion parameters on %g GPUs\n", p, n);
    for (int stage = 0; stage <= 3; stage++)
        printf("stage %d: %6.1f GB on each, 1/%.1f of stage 0, %d P sent in a step\n", stage,
               gigabytes(stage, p, n), 16 * p / gigabytes(stage, p, n), stage == 3 ? 3 : 2);
    return 0;
}

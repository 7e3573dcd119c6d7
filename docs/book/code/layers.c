/* SPDX-License-Identifier: MIT
 * layers.c: what one step sends for each of the three cuts; 8 GPUs, a model of 7 billion
 * parameters.
 */
#include <stdio.h>

int main(void)
{
    const double parameters = 6.7e9, layers = 32, width = 4096, tokens = 4 * 2048, ranks = 8;
    const double activation = tokens * width * 2; /* bytes of one layer's output, 16 bits */
    const double around = 2 * (ranks - 1) / ranks;
    printf("sent by each GPU in one step\n");
    printf("data      %6.1f GB  once: the gradients\n", around * 2 * parameters / 1e9);
    printf("tensor    %6.1f GB  in %.0f all-reduces\n", around * activation * 4 * layers / 1e9,
           4 * layers);
    printf("pipeline  %6.1f GB  forward and back over one cut\n", 2 * activation / 1e9);
    return 0;
}

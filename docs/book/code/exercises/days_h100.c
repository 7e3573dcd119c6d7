/* SPDX-License-Identifier: MIT
 * days_h100.c: how long it takes to train LLaMA-65B on 2,048 H100.
 */
#include <stdio.h>

// book: days
int main(void)
{
    const double parameters = 65.2e9, tokens = 1.4e12, gpus = 2048, peak = 989e12;
    const double work = 6 * parameters * tokens; /* forward 2, backward 4 FLOP a parameter */
    for (int percent = 40; percent <= 60; percent += 5)
        printf("at %d %% of peak: %4.1f days, %3.0f tokens per second per GPU\n", percent,
               work / (gpus * peak * percent / 100) / 86400,
               peak * percent / 100 / (6 * parameters));
    return 0;
}
// book: end

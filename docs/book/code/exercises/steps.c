/* SPDX-License-Identifier: MIT
 * steps.c: from which size on an all-reduce in two steps is faster than one in one.
 */
#include <stdio.h>

// book: steps
static double microseconds(int steps, double bytes, int n)
{
    const double each = 2, rate = 395e3; /* bytes a microsecond */
    double sent = steps == 1 ? (n - 1) * bytes : (n - 1) * bytes / n;
    return steps * (each + sent / rate);
}

int main(void)
{
    for (int n = 4; n <= 8; n += 4) {
        double bytes = 1000;
        while (microseconds(1, bytes, n) < microseconds(2, bytes, n))
            bytes += 1000;
        printf("%d GPUs: two steps are faster from %3.0f KB on\n", n, bytes / 1000);
    }
    return 0;
}
// book: end

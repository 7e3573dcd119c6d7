/* SPDX-License-Identifier: MIT
 * uneven.c: 1000 rows, row i of which costs i, split over four GPUs by count and by cost.
 */
#include <stdio.h>

enum { ROWS = 1000, GPUS = 4 };

static long cost(int first, int end)
{
    long sum = 0;
    for (int i = first; i < end; i++)
        sum += i;
    return sum;
}

// book: uneven
// The first row of part g: as many rows before it as cost g / GPUs of all.
static int first_by_cost(int g)
{
    int row = 0;
    for (long sum = 0; GPUS * sum < g * cost(0, ROWS); row++)
        sum += row;
    return row;
}
// book: end

static int first_by_count(int g)
{
    return g * ROWS / GPUS;
}

static void report(const char *how, int (*first)(int))
{
    long most = 0;
    printf("by %s:", how);
    for (int g = 0; g < GPUS; g++) {
        long mine = cost(first(g), first(g + 1));
        most = mine > most ? mine : most;
        printf(" %d", first(g + 1) - first(g));
    }
    printf(" rows, speed-up %.2f\n", (double)cost(0, ROWS) / most);
}

int main(void)
{
    report("count", first_by_count);
    report("cost", first_by_cost);
    return 0;
}

/* SPDX-License-Identifier: MIT
 * inventory.c: the lab's program. Comes with the lab.
 *
 *     inventory                      the table of all GPUs
 *     inventory --json               the same for programs
 *     inventory --bus 0000:3b:00.0   which GPU is plugged in there
 */
#include <string.h>

#include "lab01.h"

static int fail(const char *what, int result)
{
    fprintf(stderr, "inventory: %s: %s (%d)\n", what, inv_sentence(result), result);
    return 1;
}

static int by_bus(const char *bus_id)
{
    int device, rc = inv_by_bus(bus_id, &device);
    if (rc)
        return fail(bus_id, rc);
    printf("%s is GPU %d\n", bus_id, device);
    return 0;
}

int main(int argc, char **argv)
{
    int rc;
    if (argc == 3 && !strcmp(argv[1], "--bus"))
        return by_bus(argv[2]);
    if (argc == 2 && !strcmp(argv[1], "--json"))
        rc = inv_print_json(stdout);
    else if (argc == 1)
        rc = inv_print_table(stdout);
    else
        return fprintf(stderr, "usage: inventory [--json | --bus ADDRESS]\n"
                               "Prints a table of the GPUs, the same as JSON, or the number of the "
                               "GPU with this PCI address.\n"),
               2;
    return rc ? fail("the inventory", rc) : 0;
}

/* SPDX-License-Identifier: MIT
 * target_node_file.c: libFuzzer's entry to the reader of node descriptions: any bytes are a node or
 * refused with a sentence.
 */
#include "topology.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct topology topology;
    static int file = -1;
    char path[64], error[512] = "";
    if (file < 0)
        file = memfd_create("node.json", 0);
    if (file < 0 || ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != (ssize_t)size)
        return 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    if (topology_load(&topology, VGPU_NODES, path, error, sizeof error) != 0 && error[0] == 0)
        abort(); /* refused, and no word why */
    return 0;
}

/* SPDX-License-Identifier: MIT
 * shares.c: two allocations of GPU 0, of which one is shared with GPU 1, and a vector that grows:
 * who may do what. Given; it uses every function of vmm.c but those for descriptors.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab06.h"

static void must(const char *what, int rc)
{
    if (rc == LAB_OK)
        return;
    fprintf(stderr, "shares: %s failed (%d)%s\n", what, rc,
            rc == LAB_ENOPEER ? ": GPU 1 cannot reach GPU 0's memory" : "");
    exit(1);
}

static int gpus(void)
{
    int n = 0;
    while (vmm_gpu(n) == LAB_OK)
        n++;
    return n;
}

static void print_access(const char *name, CUdeviceptr at, int n)
{
    printf("%-14s", name);
    for (int d = 0; d < n; d++) {
        CUmemLocation where = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = d};
        unsigned long long flags = 0;
        must("cuMemGetAccess", vmm_result(cuMemGetAccess(&flags, &where, at)));
        printf("  GPU %d: %s", d, flags == 3 ? "rw" : flags == 1 ? "r-" : "--");
    }
    putchar('\n');
}

int main(void)
{
    struct vmm open, closed;
    struct vvec v;
    int n = gpus();
    if (n == 0) {
        fprintf(stderr, "shares: there is no GPU here\n");
        return 1;
    }
    must("vmm_alloc", vmm_alloc(0, 1000000, &open));
    must("vmm_alloc", vmm_alloc(0, 3000000, &closed));
    must("vec_open", vec_open(&v, 0, (size_t)1 << 30));
    if (n > 1) {
        must("vmm_share", vmm_share(&open, 1, CU_MEM_ACCESS_FLAGS_PROT_READ));
        must("vec_share", vec_share(&v, 1, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    }
    printf("asked for 1000000 and 3000000 bytes, got %zu and %zu\n", open.bytes, closed.bytes);
    print_access("shared", open.base, n);
    print_access("not shared", closed.base, n);
    for (size_t bytes = 1000000; bytes <= 100000000; bytes *= 5) {
        CUdeviceptr before = v.base;
        must("vec_grow", vec_grow(&v, bytes));
        printf("vector of %zu bytes: %zu mapped (parts: %d), %s\n", bytes, v.bytes, v.parts,
               v.base == before ? "not moved" : "MOVED");
    }
    print_access("vector's end", v.base + v.bytes - 1, n);
    must("vec_close", vec_close(&v));
    must("vmm_free", vmm_free(&closed));
    must("vmm_free", vmm_free(&open));
    return 0;
}

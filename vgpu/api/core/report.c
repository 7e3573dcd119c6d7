/* SPDX-License-Identifier: MIT
 * report.c: which features (feature_list.h) this process has used: the report of VGPU_REPORT=1,
 * which it prints when it ends, and what the node is told for that of vgpu-check.
 */
#include "core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Atomic uint64_t used;

void vgpu__used(enum vgpu_feature feature)
{
    uint64_t bit = 1ull << feature;
    if (!(atomic_load_explicit(&used, memory_order_relaxed) & bit))
        atomic_fetch_or(&used, bit);
}

/* The feature that a request to the node stands for, plus one. */
static const uint8_t feature_of[] = {
#define OF(op, name) [VGPU_OP_##op] = VGPU_FEATURE_##name + 1
    OF(LAUNCH, kernels),
    OF(COPY, copies),
    OF(MEMSET, copies),
    OF(STREAM_CREATE, order),
    OF(STREAM_WAIT, order),
    OF(EVENT_RECORD, order),
    OF(GRAPH, order),
    OF(PEER_ENABLE, access),
    OF(IPC_OPEN, access),
    OF(IPC_EXPORT, access),
    OF(VMM_MAP, access),
    OF(POOL_SET_ACCESS, access),
    OF(POOL_IMPORT_PTR, access),
    OF(EVENT_ELAPSED, clocks),
#undef OF
};

void vgpu__used_request(uint32_t op)
{
    if (op >= sizeof feature_of || !feature_of[op])
        return;
    vgpu__used((enum vgpu_feature)(feature_of[op] - 1));
    if (op == VGPU_OP_LAUNCH)
        vgpu__used(VGPU_FEATURE_kernel_time);
    if (op == VGPU_OP_COPY || op == VGPU_OP_MEMSET)
        vgpu__used(VGPU_FEATURE_copy_time);
}

/* Device code is searched only for a report, since that takes milliseconds. */
void vgpu__used_image(const void *begin, const void *end)
{
    if (getenv("VGPU_REPORT"))
        atomic_fetch_or(&used, vgpu_features_of_image(begin, end));
}

uint64_t vgpu__used_features(void)
{
    return atomic_load(&used);
}

void vgpu__report(void)
{
    const char *wanted = getenv("VGPU_REPORT");
    if (!wanted || strcmp(wanted, "1") != 0)
        return;
    fprintf(stderr, "vgpu: report: of what this program used,\n");
    vgpu_features_print(stderr, vgpu__used_features());
}

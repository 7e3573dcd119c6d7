/* SPDX-License-Identifier: MIT
 * runner_virtual.c: on the virtual node the verifier's witness counts, not the runner.
 */
#include "runner_internal.h"

#include "protocol.h"

char *lab__sealed(void)
{
    return (char *)(uintptr_t)VGPU_SEALED_VA;
}

int lab__count_gpus(void)
{
    return -1;
}

int lab__check_each_gpu(void)
{
    return 0;
}

void lab__count_before(struct lab_status *status)
{
    status->leak_known = 0;
}

void lab__count_after(struct lab_status *status)
{
    status->leak_known = 0;
}

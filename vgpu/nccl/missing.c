/* SPDX-License-Identifier: MIT
 * missing.c: NCCL calls that are not modelled; each prints a message and fails.
 */
#include "comm.h"
#include "nccl_device.h"

static ncclResult_t refuse_missing(const char *call, const char *instead)
{
    return nccl_fail(ncclInvalidUsage, call, "not modelled by the virtual node; %s", instead);
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t *made,
                           ncclConfig_t *config)
{
    (void)comm, (void)color, (void)key, (void)made, (void)config;
    return refuse_missing("ncclCommSplit",
                          "make a new communicator of these ranks with ncclGetUniqueId");
}

ncclResult_t ncclDevCommCreate(ncclComm_t comm, const ncclDevCommRequirements_t *requirements,
                               ncclDevComm_t *made)
{
    (void)comm, (void)requirements, (void)made;
    return refuse_missing("ncclDevCommCreate", "use the collectives, or peer access in a kernel");
}

ncclResult_t ncclDevCommDestroy(ncclComm_t comm, const ncclDevComm_t *made)
{
    (void)comm, (void)made;
    return refuse_missing("ncclDevCommDestroy", "no device communicator can exist");
}

/* SPDX-License-Identifier: MIT
 * nccl_device.h: the declarations of NCCL's device API, so that programs that offer it beside the
 * host's calls compile. It is not modelled: ncclDevCommCreate says so, and no kernel can have what
 * the functions below ask for, so they trap.
 */
#ifndef NCCL_DEVICE_H_
#define NCCL_DEVICE_H_

#include <stdbool.h>
#include <stdint.h>

#include "nccl.h"

typedef struct ncclTeam {
    int nRanks, rank, stride;
} ncclTeam_t;

typedef struct {
    uint32_t bufHandle;
} ncclLsaBarrierHandle, ncclLsaBarrierHandle_t;

typedef struct {
    void *mcBasePtr;
} ncclMultimemHandle, ncclMultimemHandle_t;

typedef struct ncclDevCommRequirements {
    void *resourceRequirementsList, *teamRequirementsList;
    bool lsaMultimem;
    int barrierCount, lsaBarrierCount, railGinBarrierCount;
    int lsaLLA2ABlockCount, lsaLLA2ASlotCount;
    bool ginForceEnable;
    int ginContextCount, ginSignalCount, ginCounterCount;
} ncclDevCommRequirements_t;

struct ncclDevComm {
    int rank, nRanks, lsaRank, lsaSize;
    ncclMultimemHandle lsaMultimem;
    ncclLsaBarrierHandle lsaBarrier;
};
typedef struct ncclDevComm ncclDevComm_t;

#ifdef __cplusplus
extern "C" {
#endif
/* Not there: it says so. */
ncclResult_t ncclDevCommCreate(ncclComm_t comm, const ncclDevCommRequirements_t *requirements,
                               ncclDevComm_t *made);
ncclResult_t ncclDevCommDestroy(ncclComm_t comm, const ncclDevComm_t *made);
#ifdef __cplusplus
}
#endif

#if defined(__cplusplus) && defined(__CUDACC__)
#include <cuda/atomic>

/* The threads that act together: all of the block. */
struct ncclCoopCta {
    __device__ int thread_rank() const
    {
        return (int)threadIdx.x;
    }
    __device__ int size() const
    {
        return (int)blockDim.x;
    }
    __device__ int num_threads() const
    {
        return (int)blockDim.x;
    }
    __device__ void sync() const
    {
        __syncthreads();
    }
};

__device__ inline ncclTeam ncclTeamWorld(const ncclDevComm &comm)
{
    return ncclTeam{comm.nRanks, comm.rank, 1};
}

__device__ inline ncclTeam ncclTeamLsa(const ncclDevComm &comm)
{
    return ncclTeam{comm.lsaSize, comm.lsaRank, 1};
}

struct ncclTeamTagLsa {
};
struct ncclTeamTagWorld {
};

__device__ inline void *vgpu_nccl_no_window()
{
    __trap();
    return nullptr;
}

__device__ inline void *ncclGetLocalPointer(ncclWindow_t, size_t)
{
    return vgpu_nccl_no_window();
}

__device__ inline void *ncclGetLsaPointer(ncclWindow_t, size_t, int)
{
    return vgpu_nccl_no_window();
}

__device__ inline void *ncclGetLsaMultimemPointer(ncclWindow_t, size_t, const ncclDevComm &)
{
    return vgpu_nccl_no_window();
}

template <class Coop> struct ncclLsaBarrierSession {
    __device__ ncclLsaBarrierSession(Coop, const ncclDevComm &, ncclTeam, ncclLsaBarrierHandle,
                                     uint32_t, bool = false, ncclMultimemHandle = {})
    {
        __trap();
    }
    __device__ ncclLsaBarrierSession(Coop, const ncclDevComm &, ncclTeamTagLsa, uint32_t,
                                     bool = false)
    {
        __trap();
    }
    __device__ void arrive(Coop, cuda::memory_order)
    {
        __trap();
    }
    __device__ void wait(Coop, cuda::memory_order)
    {
        __trap();
    }
    __device__ void sync(Coop, cuda::memory_order)
    {
        __trap();
    }
};
#endif
#endif

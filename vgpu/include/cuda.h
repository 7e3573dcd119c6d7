/* SPDX-License-Identifier: MIT
 * cuda.h: the driver API. Not modelled yet: this file has its version, handle types and nothing to
 * call, so that a program which uses cuMemCreate and its like fails to compile here instead of
 * failing to work later. The runtime API (cuda_runtime.h) is what the virtual node offers.
 */
#ifndef VGPU_CUDA_H
#define VGPU_CUDA_H

#include <stddef.h>

#define CUDA_VERSION 13000

typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;

#ifndef CU_UUID_HAS_BEEN_DEFINED
#define CU_UUID_HAS_BEEN_DEFINED
struct CUuuid_st {
    char bytes[16];
};
typedef struct CUuuid_st CUuuid;
#endif

#endif

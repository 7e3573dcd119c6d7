/* SPDX-License-Identifier: MIT */
/* cublas_v2.h: of cuBLAS only the handle and its set-up, for programs that make a handle and never
 * use it. */
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

typedef struct cublasContext *cublasHandle_t;
typedef enum { CUBLAS_STATUS_SUCCESS = 0 } cublasStatus_t;
typedef enum { CUBLAS_COMPUTE_32F = 68, CUBLAS_COMPUTE_32F_FAST_TF32 = 77 } cublasComputeType_t;
typedef enum { CUBLAS_DEFAULT_MATH = 0, CUBLAS_TF32_TENSOR_OP_MATH = 3 } cublasMath_t;

static inline cublasStatus_t cublasCreate(cublasHandle_t *handle)
{
    *handle = 0;
    return CUBLAS_STATUS_SUCCESS;
}

static inline cublasStatus_t cublasDestroy(cublasHandle_t handle)
{
    (void)handle;
    return CUBLAS_STATUS_SUCCESS;
}

static inline cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
    (void)handle, (void)mode;
    return CUBLAS_STATUS_SUCCESS;
}

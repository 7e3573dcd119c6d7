// SPDX-License-Identifier: MIT
#pragma once
__device__ int scaled(int x);
__device__ int shifted(int x);
extern __device__ int calls;

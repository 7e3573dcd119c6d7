// SPDX-License-Identifier: MIT
// What a kernel may return and be.
__global__ int returns(int *out) { return *out; } //!12 kernel function type 'int (int *)' must have void return type
__host__ __global__ void both(int n) {}           //!10 'global' and 'host' attributes are not compatible

// SPDX-License-Identifier: MIT
// Kernels that a header brings along.
#ifndef KERNELS_H
#define KERNELS_H

static __global__ void header_kernel(int *out)
{
    *out += 1;
}

inline void launch_from_header(int *out)
{
    header_kernel<<<1, 1>>>(out);
}

#define MAKE_KERNEL(name, value)                                                                   \
    __global__ void name(int *out)                                                                 \
    {                                                                                              \
        *out += value;                                                                             \
    }

#endif

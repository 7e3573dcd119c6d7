/* SPDX-License-Identifier: MIT
 * misaligned.cu: accesses at addresses that are no multiple of their size. Such a kernel faults
 * (716), and the program ends with it.
 */
#include "cases.h"
#include <unistd.h>

static void ends_misaligned(void)
{
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaErrorMisalignedAddress)
        MUST(error == cudaSuccess ? cudaErrorNotReady : error);
    _exit(0);
}

template <typename T> __global__ void store(char *bytes, int offset, T value)
{
    *(T *)(bytes + offset) = value; //! int_at_2 short_at_1 double_at_4
}
WRONG(int_at_2, "716")
{
    store<<<1, 1>>>((char *)data, 2, 7);
    ends_misaligned();
}
WRONG(short_at_1, "716")
{
    store<<<1, 1>>>((char *)data, 1, (short)7);
    ends_misaligned();
}
WRONG(double_at_4, "716")
{
    store<<<1, 1>>>((char *)data, 4, 7.0);
    ends_misaligned();
}
RIGHT(int_at_4)
{
    store<<<1, 1>>>((char *)data, 4, 7);
}
RIGHT(short_at_2)
{
    store<<<1, 1>>>((char *)data, 2, (short)7);
}
RIGHT(byte_at_1)
{
    store<<<1, 1>>>((char *)data, 1, (char)7);
}
RIGHT(double_at_8)
{
    store<<<1, 1>>>((char *)data, 8, 7.0);
}

/* A message with a header in front of its numbers. */
__global__ void load_wide(const char *message, float4 *to)
{
    *to = *(const float4 *)(message + 4); //! wide_at_4
}
WRONG(wide_at_4, "716")
{
    load_wide<<<1, 1>>>((const char *)data, (float4 *)data + 8);
    ends_misaligned();
}
RIGHT(wide_at_16)
{
    load_wide<<<1, 1>>>((const char *)data + 12, (float4 *)data + 8);
}

__global__ void add(char *bytes, int offset)
{
    atomicAdd((int *)(bytes + offset), 1); //! atomic_at_3
}
WRONG(atomic_at_3, "716")
{
    add<<<1, 1>>>((char *)data, 3);
    ends_misaligned();
}
RIGHT(atomic_at_12)
{
    add<<<1, 1>>>((char *)data, 12);
}

/* Dynamic shared memory that is shared out by hand: numbers behind flags. */
__global__ void share_out(int *to, int flags)
{
    extern __shared__ char all[];
    int *numbers = (int *)(all + flags);
    numbers[threadIdx.x] = threadIdx.x; //! numbers_behind_flags
    to[threadIdx.x] = numbers[threadIdx.x];
}
WRONG(numbers_behind_flags, "716")
{
    share_out<<<1, 32, 256>>>(data, 33);
    ends_misaligned();
}
RIGHT(numbers_behind_padded_flags)
{
    share_out<<<1, 32, 256>>>(data, 36);
}

/* memcpy goes byte by byte, whatever it is given. */
__global__ void copy(char *bytes, int *to)
{
    memcpy(to, bytes + 3, sizeof *to);
}
RIGHT(copies_bytes)
{
    copy<<<1, 1>>>((char *)data, data + 8);
}

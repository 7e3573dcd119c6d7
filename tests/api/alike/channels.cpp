/* SPDX-License-Identifier: MIT
 * channels.cpp: the channel descriptors of element types, and the names that libraries share.
 */
#include <cuda_runtime.h>

#include <cstdio>

template <class T> static void show(const char *name)
{
    cudaChannelFormatDesc d = cudaCreateChannelDesc<T>();

    printf("%s %d %d %d %d %d\n", name, d.x, d.y, d.z, d.w, (int)d.f);
}
#define SHOW(type) show<type>(#type)

int main()
{
    cudaChannelFormatDesc half = cudaCreateChannelDescHalf2();
    cudaChannelFormatDesc own = cudaCreateChannelDesc(8, 0, 16, 4, cudaChannelFormatKindUnsigned);

    SHOW(char), SHOW(signed char), SHOW(unsigned char);
    SHOW(char1), SHOW(uchar1), SHOW(char2), SHOW(uchar2), SHOW(char4), SHOW(uchar4);
    SHOW(short), SHOW(unsigned short), SHOW(short2), SHOW(ushort4);
    SHOW(int), SHOW(unsigned int), SHOW(int1), SHOW(uint2), SHOW(int4);
    SHOW(float), SHOW(float1), SHOW(float2), SHOW(float4), SHOW(double), SHOW(float3);
    printf("%d %d %d %d %d\n", half.x, half.y, half.z, half.w, (int)half.f);
    printf("%d %d %d %d %d\n", own.x, own.y, own.z, own.w, (int)own.f);
    printf("%d %d %d\n", CUDA_R_16BF, CUDA_C_64F, CUDA_R_4F_E2M1);
    printf("%d\n", PATCH_LEVEL);
    return 0;
}

// SPDX-License-Identifier: MIT
// Video instructions in inline PTX: words, halves and bytes of either sign, saturation, second
// operations, and two or four parts side by side. An H100 prints the same.
// clang-format off
// prints:  89986c9a 7fffffff 00000000 000029f0 7641e669 7641e669 ffed2936 ffffffab 89ab4321 000089ab ffed298a ffed6c9a ffffbccc 00000000 0001ffda ffffffff 7ff694cd 00000000 00000012 0ae003aa 00160c74 844003aa 0b6b049e
// prints:  89986c9a ffff6c9a 7642e658 ffffff07 c4cc364d c4cc364d 00000024 764219a8 0000013b 76421a58 89ab2979 00004379 00000001 00000014
// prints: all: fe9bb505 2438aa10
// clang-format on
#include <stdio.h>

#define SHOW(code)                                                                                 \
    do {                                                                                           \
        unsigned d = 0;                                                                            \
        asm(code : "=r"(d) : "r"(a), "r"(b), "r"(c));                                              \
        sum = sum * 31 + d;                                                                        \
        if (print)                                                                                 \
            printf(" %08x", d);                                                                    \
    } while (0)

static __device__ unsigned words(unsigned a, unsigned b, unsigned c, bool print)
{
    unsigned sum = 0;

    SHOW("vadd.s32.s32.s32 %0, %1, %2;");
    SHOW("vadd.s32.u32.s32.sat %0, %1, %2;");
    SHOW("vadd.u32.s32.s32.sat %0, %1.b0, %2.h1;");
    SHOW("vsub.s32.u32.s32 %0, %1.h0, %2.b3;");
    SHOW("vsub.u32.u32.u32.add %0, %1, %2, %3;");
    SHOW("vabsdiff.u32.s32.s32.add %0, %1, %2, %3;");
    SHOW("vabsdiff.s32.u32.u32.max %0, %1, %2.b1, %3;");
    SHOW("vmin.s32.s32.s32 %0, %1.b1, %2.b2;");
    SHOW("vmin.u32.u32.s32 %0, %1, %2;");
    SHOW("vmax.u32.u32.u32.max %0, %1.h0, %2.h1, %3;");
    SHOW("vmax.s32.s32.s32.sat.add %0, %1, %2, %3;");
    SHOW("vadd.u32.u32.u32 %0, %1, %2.h0;");
    SHOW("vsub.s32.s32.s32.sat.min %0, %1.h1, %2.h0, %3;");
    SHOW("vshl.u32.u32.u32.clamp %0, %1, %2.b0;");
    SHOW("vshl.u32.u32.u32.wrap %0, %1.h1, %2;");
    SHOW("vshr.s32.s32.u32.clamp %0, %1, %2.b1;");
    SHOW("vshr.u32.u32.u32.wrap.add %0, %1, %2, %3;");
    SHOW("vset.s32.s32.lt %0, %1, %2;");
    SHOW("vset.u32.s32.ge.add %0, %1.b3, %2.b3, %3;");
    SHOW("vmad.s32.s32.s32 %0, %1.h0, %2.h0, %3;");
    SHOW("vmad.u32.u32.u32 %0, %1.b1, %2.h1, %3;");
    SHOW("vmad.s32.s32.u32 %0, %1, %2, %3;");
    SHOW("vmad.s32.u32.u32 %0, %1.h1, %2, %3;");
    return sum;
}

static __device__ unsigned parts(unsigned a, unsigned b, unsigned c, bool print)
{
    unsigned sum = 0;

    SHOW("vadd2.s32.s32.s32.sat %0, %1, %2, %3;");
    SHOW("vadd4.u32.u32.u32.sat %0, %1, %2, %3;");
    SHOW("vsub2.s32.u32.u32 %0, %1, %2, %3;");
    SHOW("vsub4.s32.s32.u32.add %0, %1, %2, %3;");
    SHOW("vavrg2.s32.s32.s32 %0, %1, %2, %3;");
    SHOW("vavrg4.u32.u32.u32 %0, %1, %2, %3;");
    SHOW("vavrg4.s32.s32.s32.add %0, %1, %2, %3;");
    SHOW("vabsdiff2.u32.s32.s32 %0, %1, %2, %3;");
    SHOW("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;");
    SHOW("vabsdiff4.s32.s32.s32.sat %0, %1, %2, %3;");
    SHOW("vmin2.s32.s32.s32 %0, %1, %2, %3;");
    SHOW("vmax4.u32.s32.s32.sat %0, %1, %2, %3;");
    SHOW("vset2.s32.s32.le %0, %1, %2, %3;");
    SHOW("vset4.u32.u32.ge.add %0, %1, %2, %3;");
    return sum;
}

__global__ void kernel()
{
    const unsigned some[] = {0,          1,          31,         0x7f,
                             0x80,       0x8000,     0x7fffffff, 0x80000000,
                             0xffffffff, 0x89ab4321, 0xffed2979, 0x12345678};
    unsigned sums[2] = {0, 0};

    words(0xffed2979, 0x89ab4321, 17, true);
    printf("\n");
    parts(0xffed2979, 0x89ab4321, 17, true);
    printf("\n");
    for (unsigned a : some)
        for (unsigned b : some)
            for (unsigned c : some) {
                sums[0] = sums[0] * 37 + words(a, b, c, false);
                sums[1] = sums[1] * 37 + parts(a, b, c, false);
            }
    printf("all: %08x %08x\n", sums[0], sums[1]);
}

int main()
{
    kernel<<<1, 1>>>();
    return (int)cudaDeviceSynchronize();
}

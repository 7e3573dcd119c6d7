// SPDX-License-Identifier: MIT
// Arithmetic in inline PTX: what the PTX manual defines, with its corner cases; registers, guards.
// prints: ptx arithmetic: 0 wrong of 69
#include <cuda_runtime.h>
#include <stdio.h>

typedef unsigned long long u64;

__device__ int wrong, asked;

__device__ void is(int line, u64 found, u64 wanted)
{
    asked++;
    if (found != wanted) {
        wrong++;
        printf("line %d: %llx, not %llx\n", line, found, wanted);
    }
}

// Operands are variables, so that no compiler works anything out.
#define U32(instruction, wanted, ...)                                                              \
    {                                                                                              \
        unsigned d = 0;                                                                            \
        asm volatile(instruction : "=r"(d) : __VA_ARGS__);                                         \
        is(__LINE__, d, wanted);                                                                   \
    }
#define U64(instruction, wanted, ...)                                                              \
    {                                                                                              \
        u64 d = 0;                                                                                 \
        asm volatile(instruction : "=l"(d) : __VA_ARGS__);                                         \
        is(__LINE__, d, wanted);                                                                   \
    }

__device__ void bits(unsigned a, unsigned b){
    U32("bfe.u32 %0, %1, 8, 12;", 0x456, "r"(a)) // a: 0x12345678, b: 0x89abcdef
    U32("bfe.u32 %0, %1, 28, 12;", 0x1, "r"(a)) U32("bfe.u32 %0, %1, 40, 4;", 0, "r"(a))
        U32("bfe.s32 %0, %1, 4, 4;", 0xfffffffe, "r"(b))
            U32("bfe.s32 %0, %1, 28, 12;", 0xfffffff8, "r"(b))
                U32("bfe.s32 %0, %1, 40, 4;", 0xffffffff, "r"(b)) // beyond the end: the sign
    U32("bfe.s32 %0, %1, 4, 0;", 0, "r"(b)) U64("bfe.u64 %0, %1, 60, 10;", 0x8, "l"((u64)b << 32))
        U32("bfi.b32 %0, %1, %2, 8, 8;", 0x89ab78ef, "r"(a), "r"(b))
            U32("bfi.b32 %0, %1, %2, 28, 8;", 0x89abcdef, "r"(a), "r"(b & 0xfffffff | 0x80000000))
                U32("bfi.b32 %0, %1, %2, 32, 8;", 0x89abcdef, "r"(a), "r"(b))
                    U64("bfi.b64 %0, %1, %2, 32, 32;", 0x1234567889abcdef, "l"((u64)a), "l"((u64)b))
                        U32("prmt.b32 %0, %1, %2, 0x7531;", 0x89cd1256, "r"(a), "r"(b))
                            U32("prmt.b32 %0, %1, 0, 0x0123;", 0x78563412, "r"(a))
                                U32("prmt.b32 %0, %1, %2, 0xc8f0;", 0xff00ff78, "r"(a),
                                    "r"(b)) // 8: a sign, eight times
    U32("lop3.b32 %0, %1, %2, %3, 0x96;", a ^ b ^ 0xff, "r"(a), "r"(b),
        "r"(0xff)) U32("lop3.b32 %0, %1, %2, %3, 0xe8;", (a & b) | (a & 0xff) | (b & 0xff), "r"(a),
                       "r"(b), "r"(0xff)) U32("shl.b32 %0, %1, %2;", 0, "r"(a), "r"(32))
        U32("shl.b32 %0, %1, 4;", 0x23456780, "r"(a)) U32("shr.u32 %0, %1, %2;", 0, "r"(b), "r"(99))
            U32("shr.s32 %0, %1, %2;", 0xffffffff, "r"(b), "r"(99)) U32("shr.b32 %0, %1, 4;",
                                                                        0x089abcde, "r"(b))
                U32("shf.l.wrap.b32 %0, %1, %2, %3;", 0xabcdef12, "r"(a), "r"(b),
                    "r"(40)) U32("shf.l.clamp.b32 %0, %1, %2, %3;", a, "r"(a), "r"(b), "r"(40))
                    U32("shf.r.wrap.b32 %0, %1, %2, %3;", 0xef123456, "r"(a), "r"(b),
                        "r"(8)) U32("shf.r.clamp.b32 %0, %1, %2, %3;", b, "r"(a), "r"(b), "r"(32))
                        U32("popc.b32 %0, %1;", 13, "r"(a)) U32("popc.b64 %0, %1;", 33,
                                                                "l"((u64)a << 32 | b))
                            U32("clz.b32 %0, %1;", 3, "r"(a)) U32("clz.b32 %0, %1;", 32, "r"(a - a))
                                U32("clz.b64 %0, %1;", 35,
                                    "l"((u64)a)) U32("brev.b32 %0, %1;", 0x1e6a2c48,
                                                     "r"(a)) U32("bfind.u32 %0, %1;", 28, "r"(a))
                                    U32("bfind.s32 %0, %1;", 30, "r"(b)) U32("bfind.u32 %0, %1;",
                                                                             0xffffffff, "r"(a - a))
                                        U32("bmsk.clamp.b32 %0, %1, %2;", 0xff0, "r"(4), "r"(8))
                                            U32("bmsk.clamp.b32 %0, %1, %2;", 0, "r"(40), "r"(8))
                                                U32("bmsk.wrap.b32 %0, %1, %2;", 0xff00, "r"(40),
                                                    "r"(40)) U32("not.b32 %0, %1;", ~a, "r"(a))
                                                    U32("xor.b32 %0, %1, %2;", a ^ b, "r"(a),
                                                        "r"(b))}

__device__ void numbers(unsigned a, unsigned b){
    U32("add.s32 %0, %1, -1;", a - 1, "r"(a)) U32("sub.u32 %0, %1, %2;", a - b, "r"(a), "r"(b))
        U32("mul.lo.u32 %0, %1, %2;", a *b, "r"(a),
            "r"(b)) U32("mul.hi.u32 %0, %1, %2;", (unsigned)((u64)a *b >> 32), "r"(a), "r"(b))
            U32("mul.hi.s32 %0, %1, %2;", (unsigned)((long long)(int)a *(int)b >> 32), "r"(a),
                "r"(b)) U64("mul.wide.s32 %0, %1, %2;", (u64)((long long)(int)a *(int)b), "r"(a),
                            "r"(b)) U64("mad.wide.u32 %0, %1, %2, %3;", (u64)a *b + 7, "r"(a),
                                        "r"(b), "l"(7ull)) U32("mad.lo.s32 %0, %1, %2, %3;",
                                                               a *b + 9, "r"(a), "r"(b), "r"(9))
                U32("div.s32 %0, %1, %2;", (unsigned)((int)b / 1000), "r"(b),
                    "r"(1000)) U32("rem.u32 %0, %1, %2;", b % 1000, "r"(b),
                                   "r"(1000)) U32("min.s32 %0, %1, %2;", b, "r"(a), "r"(b))
                    U32("min.u32 %0, %1, %2;", a, "r"(a), "r"(b)) U32("max.u32 %0, %1, %2;",
                                                                      b, "r"(a), "r"(b))
                        U32("neg.s32 %0, %1;", -a, "r"(a)) U32("abs.s32 %0, %1;", 0u - b, "r"(b))
                            U32("cvt.u32.u16 %0, %1;", 0xcdef, "h"((unsigned short)b))
                                U32("cvt.s32.s16 %0, %1;", 0xffffcdef, "h"((unsigned short)b))
                                    U32("cvt.u32.u64 %0, %1;", b, "l"((u64)a << 32 | b))
                                        U64("cvt.s64.s32 %0, %1;", 0xffffffff89abcdef, "r"(b))
                                            U32("add.f32 %0, %1, 0f3F800000;",
                                                __float_as_uint(3.5f), "f"(2.5f))
                                                U32("fma.rn.f32 %0, %1, %2, %3;",
                                                    __float_as_uint(fmaf(0.1f, 3, -0.3f)),
                                                    "f"(0.1f), "f"(3.f), "f"(-0.3f))
                                                    U32("min.f32 %0, %1, %2;", 0x80000000, "f"(0.f),
                                                        "f"(-0.f))
                                                        U32("max.f32 %0, %1, %2;",
                                                            __float_as_uint(1), "f"(1.f), "f"(NAN))}

__device__ void registers(unsigned a, unsigned b){
    U32("{ .reg .pred p; setp.lt.s32 p, %1, %2; selp.b32 %0, 1, 2, p; }", 2, "r"(a), "r"(b))
        U32("{ .reg .pred p; setp.lt.u32 p, %1, %2; selp.b32 %0, 1, 2, p; }", 1, "r"(a), "r"(b))
            U32("{ .reg .pred p, q;\n\t setp.eq.u32 p, %1, %2; /* no */\n"
                "setp.ne.or.u32 q, %1, %1, !p; // yes\n and.pred q, q, !p; selp.u32 %0, 3, 4, q; }",
                3, "r"(a), "r"(b))
                U32("{ .reg .b32 r<2>; .reg .pred p; mov.b32 r0, %1; mov.b32 r1, %2; setp.hi.u32 "
                    "p, r1, r0;"
                    " @p add.u32 r0, r0, r1; @!p add.u32 r0, r0, 5; mov.b32 %0, r0; }",
                    a + b, "r"(a), "r"(b))
                    U32("{ .reg .b32 lo, hi; mov.b64 {lo, hi}, %1; xor.b32 %0, lo, hi; }", a ^ b,
                        "l"((u64)a << 32 | b))
                        U64("mov.b64 %0, {%1, %2};", (u64)b << 32 | a, "r"(a), "r"(b))}

__global__ void all(unsigned a, unsigned b)
{
    unsigned twice = a;
    bits(a, b);
    numbers(a, b);
    registers(a, b);
    asm("add.u32 %0, %0, %0;" : "+r"(twice));
    if (twice != 2 * a)
        wrong++;
    printf("ptx arithmetic: %d wrong of %d\n", wrong, asked);
}

int main()
{
    all<<<1, 1>>>(0x12345678, 0x89abcdef);
    return (int)cudaDeviceSynchronize();
}

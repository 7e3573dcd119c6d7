/* SPDX-License-Identifier: MIT
 * intrinsics.cu: integer and math functions of device code against values worked out by hand or by
 * the definition.
 */
#include "../check.h"

struct pair {
    double is, expected;
};

enum { ROOM = 256 };

__device__ pair results[ROOM];
__device__ int lines[ROOM], count;

__device__ void note(double is, double expected, int line)
{
    if (count < ROOM) {
        results[count] = {is, expected};
        lines[count++] = line;
    }
}
#define IS(value, expected) note((double)(value), (double)(expected), __LINE__)

__global__ void integers()
{
    IS(__brev(1u), 0x80000000u);
    IS(__brevll(2ull), 0x4000000000000000ull);
    IS(__clz(0) * 100 + __clz(1), 3231);
    IS(__clzll(1ll << 40), 23);
    IS(__ffs(0x50) * 100 + __ffs(0), 500);
    IS(__popc(0xf0f0u) + __popcll(~0ull), 72);
    IS(__mul24(0x01800000, 3), -25165824.0);
    IS(__umul24(0xff800001u, 3u), 0x1800003);
    IS(__mulhi(-2, 0x40000000), -1);
    IS(__umulhi(0x80000000u, 6u), 3);
    IS(__mul64hi(-1ll, 5ll), -1);
    IS(__umul64hi(1ull << 63, 10ull), 5);
    IS(__sad(-3, 4, 10u) * 100 + __usad(3u, 9u, 1u), 1707);
    IS(__byte_perm(0x33221100u, 0x77665544u, 0x7250u), 0x77225500u);
    IS(__funnelshift_l(0x80000000u, 1u, 1u), 3);
    IS(__funnelshift_r(2u, 1u, 1u), 0x80000001u);
    IS(__funnelshift_lc(7u, 1u, 40u), 7);
    IS(__funnelshift_rc(7u, 1u, 40u), 1);
    IS(__hadd(-3, 2) * 100 + __rhadd(-3, 2), -100);
    IS(__uhadd(~0u, ~0u), ~0u);
    IS(__urhadd(1u, 2u), 2);
    IS(__fns(0x0000000au, 0u, 2), 3);
    IS(__fns(0x0000000au, 31u, -1), 3);
    IS(__fns(0x0000000au, 0u, 3), ~0u);
}

__global__ void parts()
{
    IS(__vadd4(0x01ff7f80u, 0x01010101u), 0x02008081u);
    IS(__vaddss4(0x01ff7f80u, 0x01010180u), 0x02007f80u);
    IS(__vaddus4(0x01ff7f80u, 0x01010101u), 0x02ff8081u);
    IS(__vsub2(0x00010000u, 0x00020001u), 0xffffffffu);
    IS(__vsubus2(0x00010005u, 0x00020001u), 0x00000004u);
    IS(__vabs2(0x8000fffeu), 0x80000002u);
    IS(__vabsss2(0x8000fffeu), 0x7fff0002u);
    IS(__vnegss4(0x80ff0102u), 0x7f01fffeu);
    IS(__vabsdiffu4(0x01ff0005u, 0x02000100u), 0x01ff0105u);
    IS(__vabsdiffs2(0xffff0001u, 0x00010003u), 0x00020002u);
    IS(__vavgu4(0x01020304u, 0x02020405u), 0x02020405u);
    IS(__vhaddu2(0x00010003u, 0x00020004u), 0x00010003u);
    IS(__vmaxs4(0x80017f00u, 0x00ff01feu), 0x00017f00u);
    IS(__vmaxu4(0x80017f00u, 0x00ff01feu), 0x80ff7ffeu);
    IS(__vmins2(0x8000ffffu, 0x00010001u), 0x8000ffffu);
    IS(__vminu2(0x8000ffffu, 0x00010001u), 0x00010001u);
    IS(__vcmpeq4(0x01020304u, 0x01000300u), 0xff00ff00u);
    IS(__vcmpgts2(0x00018000u, 0xffff0000u), 0xffff0000u);
    IS(__vcmpgtu2(0x00018000u, 0xffff0000u), 0x0000ffffu);
    IS(__vsetltu4(0x01020304u, 0x02020202u), 0x01000000u);
    IS(__vsads4(0x01ff0000u, 0x02010000u), 3);
    IS(__vsadu2(0x00010005u, 0x00030001u), 6);
    IS(__viaddmax_s32(5, -7, 1), 1);
    IS(__viaddmin_s32(5, -7, 1), -2);
    IS(__vimax3_s16x2(0x0001ffffu, 0x00020000u, 0x00008000u), 0x00020000u);
    IS(__vimin3_s32_relu(-5, 3, 9), 0);
    IS(__dp4a(0x01ff0203, 0x05060708, 10), 10 + 5 - 6 + 14 + 24);
    IS(__dp4a(0x01ff0203u, 0x05060708u, 10u), 10 + 5 + 255 * 6 + 14 + 24);
    IS(__dp2a_lo(0x0002fffe, 0x0506ff03, 1), 1 - 2 - 6);
    IS(__dp2a_hi(0x0002fffe, 0x0506ff03, 1), 1 + 10 - 12);
    bool first = true, low = true;
    IS(__vibmin_s32(4, 3, &first) * 10 + first, 30);
    IS(__vibmax_u16x2(0x00018000u, 0x00020001u, &first, &low), 0x00028000u);
    IS(first * 10 + low, 1);
}

__global__ void rounding()
{
    const float third = 1.0f / 3, tiny = 1e-10f;
    IS(__fadd_rd(1.0f, tiny), 1.0f);
    IS(__fadd_ru(1.0f, tiny), 1.0f + 1.1920929e-7f);
    IS(__fadd_rz(-1.0f, -tiny), -1.0f);
    IS(__fsub_ru(1.0f, tiny), 1.0f);
    IS(__fsub_rd(1.0f, tiny), 1.0f - 5.9604645e-8f);
    IS(__fmul_ru(third, 3.0f) > 1.0f, __fmul_rd(third, 3.0f) > 1.0f || third * 3.0 > 1);
    IS(__fdiv_rd(1.0f, 3.0f) < __fdiv_ru(1.0f, 3.0f), 1);
    IS(__frcp_ru(3.0f) - __frcp_rd(3.0f), 2.9802322387695312e-08);
    IS(__fsqrt_ru(2.0f) - __fsqrt_rd(2.0f), 1.1920928955078125e-07);
    IS(__ddiv_ru(1.0, 3.0) - __ddiv_rz(1.0, 3.0), 5.5511151231257827e-17);
    IS(__dadd_rd(1.0, -1e-30), 1.0 - 1.1102230246251565e-16);
    IS(__dsqrt_rn(2.0) * 1.0, 1.4142135623730951);
    IS(__fmaf_rd(1.0f, 1.0f, tiny), 1.0f);
    IS(__fmaf_ru(1.0f, 1.0f, tiny), 1.0f + 1.1920929e-7f);
    IS(__fma_rz(1.0, 1.0, -1e-30), 1.0 - 1.1102230246251565e-16);
    IS(__fmaf_rn(third, 3.0f, -1.0f), 2.9802322387695312e-08);
    IS(__double2float_ru(1.0 + 1e-12), 1.0f + 1.1920929e-7f);
    IS(__double2float_rd(1.0 + 1e-12), 1.0f);
    IS(__int2float_rd(16777217), 16777216.0f);
    IS(__int2float_ru(16777217), 16777218.0f);
    IS(__uint2float_rz(4294967295u), 4294967040.0f);
    IS(__ll2double_ru(9007199254740993ll), 9007199254740994.0);
    IS(__ull2float_ru(~0ull), 18446744073709551616.0);
}

__global__ void conversions()
{
    const float inf = __int_as_float(0x7f800000), nan = __int_as_float(0x7fc00000);
    IS(__float2int_rn(2.5f) * 100 + __float2int_ru(2.1f) * 10 + __float2int_rd(2.9f), 232);
    IS(__float2int_rz(-2.9f), -2);
    IS(__float2int_rz(1e20f), 2147483647);
    IS(__float2int_rz(-inf), -2147483648.0);
    IS(__float2int_rz(nan), 0);
    IS(__float2uint_rn(-5.0f), 0);
    IS(__float2uint_rz(inf), 4294967295.0);
    IS(__float2ll_rz(nan), -9223372036854775808.0);
    IS(__double2int_rz(3e9), 2147483647);
    IS(__double2uint_rn(3e9 + 0.5), 3000000000.0);
    IS(__double2ll_rd(-0.5), -1);
    IS(__double2ull_rn(-1.0), 0);
    IS(__double2hiint(1.0), 0x3ff00000);
    IS(__double2loint(__hiloint2double(7, 9)), 9);
    IS(__float_as_int(1.0f), 0x3f800000);
    IS(__longlong_as_double(0x4000000000000000ll), 2);
    IS(__saturatef(nan) + __saturatef(7.0f), 1);
}

__global__ void functions()
{
    const double four[] = {1, 2, 2, 4};
    double s, c;
    sincospi(0.5, &s, &c);
    IS(s + c, 1);
    IS(norm4d(1, 2, 2, 4), 5);
    IS(norm(4, four), 5);
    IS(rnorm4d(1, 2, 2, 4), 0.2);
    IS(rnorm3df(1, 2, 2), 1.0f / 3);
    IS(rhypot(3.0, 4.0), 0.2);
    IS(fabs(erf(erfinv(0.7)) - 0.7) < 1e-15, 1);
    IS(fabs(erf(erfinv(-0.2)) + 0.2) < 1e-15, 1);
    IS(fabs(erfc(erfcinv(1e-9)) / 1e-9 - 1) < 1e-12, 1);
    IS(fabs(erfc(erfcinv(1.75)) - 1.75) < 1e-14, 1);
    IS(fabs(normcdf(normcdfinv(1e-5)) / 1e-5 - 1) < 1e-12, 1);
    IS(fabs(normcdf(1.0) - 0.84134474606854293) < 1e-15, 1);
    IS(fabs(erfcx(20.0) - 0.028174348741051319) < 1e-15, 1);
    IS(fabs(erfcx(0.5) - 0.61569034419292579) < 1e-14, 1);
    IS(fabs(cyl_bessel_i0(3.0) - 4.8807925858650245) < 1e-14, 1);
    IS(fabs(cyl_bessel_i1(3.0) - 3.9533702174026093) < 1e-14, 1);
    IS(umax(3u, 5u) * 10 + llmin(4, 2), 52);
}

template <class Kernel> static void check(const char *name, Kernel kernel)
{
    static pair is[ROOM];
    static int at[ROOM];
    int n = 0;
    MUST(cudaMemcpyToSymbol(count, &n, sizeof n));
    kernel<<<1, 1>>>();
    MUST(cudaDeviceSynchronize());
    MUST(cudaMemcpyFromSymbol(&n, count, sizeof n));
    MUST(cudaMemcpyFromSymbol(is, results, sizeof is));
    MUST(cudaMemcpyFromSymbol(at, lines, sizeof at));
    HOLDS(n > 10 && n < ROOM, "%s: %d", name, n);
    for (int i = 0; i < n; i++)
        HOLDS(is[i].is == is[i].expected, "%s, line %d: is %.17g, not %.17g", name, at[i], is[i].is,
              is[i].expected);
}

int main()
{
    check("integers", integers);
    check("parts", parts);
    check("rounding", rounding);
    check("conversions", conversions);
    check("functions", functions);
    printf("PASS\n");
    return 0;
}

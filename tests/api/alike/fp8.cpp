// SPDX-License-Identifier: MIT
// fp8.cpp: every conversion of cuda_fp8.h, as numbers: compiled against our header and a Toolkit's
// it prints the same (../alike.py).
#include <cuda_fp8.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <initializer_list>

static float float_of(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* One number that depends on every value in its order, and a line of it now and then. */
struct sum {
    uint64_t hash = 14695981039346656037ull;
    void add(uint64_t value)
    {
        hash = (hash ^ value) * 1099511628211ull;
    }
};

static void print(const char *what, int kind, const sum &all)
{
    printf("%s, kind %d: %016llx\n", what, kind, (unsigned long long)all.hash);
}

static void narrow(__nv_fp8_interpretation_t kind)
{
    const __nv_saturation_t both[] = {__NV_NOSAT, __NV_SATFINITE};

    for (__nv_saturation_t saturate : both) {
        sum half, bfloat16, single, twice;
        for (unsigned bits = 0; bits < 0x10000; bits++) {
            __half_raw h;
            __nv_bfloat16_raw b;
            h.x = b.x = (unsigned short)bits;
            half.add(__nv_cvt_halfraw_to_fp8(h, saturate, kind));
            bfloat16.add(__nv_cvt_bfloat16raw_to_fp8(b, saturate, kind));
        }
        for (uint64_t bits = 0; bits < 1ull << 32; bits += 0x3fff) {
            float value = float_of((uint32_t)bits);
            single.add(__nv_cvt_float_to_fp8(value, saturate, kind));
            twice.add(__nv_cvt_double_to_fp8((double)value * 1.0000000001, saturate, kind));
        }
        print("from half", kind, half);
        print("from bfloat16", kind, bfloat16);
        print("from float", kind, single);
        print("from double", kind, twice);
    }
    for (uint32_t bits :
         {0x7fc00000u, 0xffc00000u, 0x7f800000u, 0xff800000u, 0x43e00000u, 0x43e80000u, 0x43f00000u,
          0x47600000u, 0x47680000u, 0x47700000u, 0x80000000u, 1u})
        printf("%08x: %02x %02x\n", bits, __nv_cvt_float_to_fp8(float_of(bits), __NV_NOSAT, kind),
               __nv_cvt_float_to_fp8(float_of(bits), __NV_SATFINITE, kind));
}

template <class Number, class Two, class Four> static void wide(__nv_fp8_interpretation_t kind)
{
    for (unsigned bits = 0; bits < 256; bits++) {
        Number one;
        one.__x = (__nv_fp8_storage_t)bits;
        printf("%d %02x: half %04x, bfloat16 %04x, float %a, double %a, bool %d,", kind, bits,
               ((__half_raw)(__half)one).x, ((__nv_bfloat16_raw)(__nv_bfloat16)one).x,
               (double)(float)one, (double)one, (int)(bool)one);
        printf(" %d %u %d %d %u %d %u %ld %lu %lld %llu\n", (signed char)one, (unsigned char)one,
               (char)one, (short)one, (unsigned short)one, (int)one, (unsigned)one, (long)one,
               (unsigned long)one, (long long)one, (unsigned long long)one);
    }
    sum pairs;
    for (unsigned bits = 0; bits < 0x10000; bits++) {
        Two two;
        two.__x = (__nv_fp8x2_storage_t)bits;
        float2 f = (float2)two;
        __half2_raw h = (__half2)two;
        pairs.add(h.x ^ (unsigned)h.y << 16 ^ (uint64_t)(f.x < f.y) << 32);
        pairs.add(Two(f).__x ^ Two(make_double2(f.x, f.y)).__x << 8 ^ Two((__half2)two).__x << 16);
    }
    print("pairs", kind, pairs);
    Four four(make_float4(1.0f, -2.5f, 1000.0f, 1e-9f)), doubles(make_float4(0, 1, 2, 3));
    float4 back = (float4)four;
    printf("four %08x %08x: %a %a %a %a\n", four.__x, doubles.__x, back.x, back.y, back.z, back.w);
    printf("of integers: %02x %02x %02x %02x %02x %02x\n", Number((short)-3).__x, Number(17).__x,
           Number(17u).__x, Number(1000000L).__x, Number(0x1000001ull).__x, Number(-465LL).__x);
}

int main()
{
    printf("sizes %zu %zu %zu, alignments %zu %zu %zu\n", sizeof(__nv_fp8_e4m3),
           sizeof(__nv_fp8x2_e4m3), sizeof(__nv_fp8x4_e5m2), alignof(__nv_fp8_e4m3),
           alignof(__nv_fp8x2_e4m3), alignof(__nv_fp8x4_e5m2));
    narrow(__NV_E4M3);
    narrow(__NV_E5M2);
    wide<__nv_fp8_e4m3, __nv_fp8x2_e4m3, __nv_fp8x4_e4m3>(__NV_E4M3);
    wide<__nv_fp8_e5m2, __nv_fp8x2_e5m2, __nv_fp8x4_e5m2>(__NV_E5M2);
    return 0;
}

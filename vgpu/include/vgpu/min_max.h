/* SPDX-License-Identifier: MIT
 * min_max.h: min and max for numbers, as CUDA declares them for host and device code.
 */
#ifndef VGPU_MIN_MAX_H
#define VGPU_MIN_MAX_H

#define VGPU_MIN_MAX(type)                                                                         \
    __attribute__((unused)) static inline constexpr type min(type a, type b)                       \
    {                                                                                              \
        return b < a ? b : a;                                                                      \
    }                                                                                              \
    __attribute__((unused)) static inline constexpr type max(type a, type b)                       \
    {                                                                                              \
        return a < b ? b : a;                                                                      \
    }

VGPU_MIN_MAX(int)
VGPU_MIN_MAX(unsigned int)
VGPU_MIN_MAX(long)
VGPU_MIN_MAX(unsigned long)
VGPU_MIN_MAX(long long)
VGPU_MIN_MAX(unsigned long long)

/* A number wins over a NaN. */
#define VGPU_MIN_MAX_FLOAT(type)                                                                   \
    __attribute__((unused)) static inline type min(type a, type b)                                 \
    {                                                                                              \
        return b < a || a != a ? b : a;                                                            \
    }                                                                                              \
    __attribute__((unused)) static inline type max(type a, type b)                                 \
    {                                                                                              \
        return a < b || a != a ? b : a;                                                            \
    }

VGPU_MIN_MAX_FLOAT(float)
VGPU_MIN_MAX_FLOAT(double)

/* Mixed arguments mean what CUDA makes of them. */
#define VGPU_MIN_MAX_MIXED(left, right, type)                                                      \
    __attribute__((unused)) static inline constexpr type min(left a, right b)                      \
    {                                                                                              \
        return min((type)a, (type)b);                                                              \
    }                                                                                              \
    __attribute__((unused)) static inline constexpr type max(left a, right b)                      \
    {                                                                                              \
        return max((type)a, (type)b);                                                              \
    }

VGPU_MIN_MAX_MIXED(int, unsigned int, unsigned int)
VGPU_MIN_MAX_MIXED(unsigned int, int, unsigned int)
VGPU_MIN_MAX_MIXED(long, unsigned long, unsigned long)
VGPU_MIN_MAX_MIXED(unsigned long, long, unsigned long)
VGPU_MIN_MAX_MIXED(long long, unsigned long long, unsigned long long)
VGPU_MIN_MAX_MIXED(unsigned long long, long long, unsigned long long)

#undef VGPU_MIN_MAX
#undef VGPU_MIN_MAX_FLOAT
#undef VGPU_MIN_MAX_MIXED

/* float with double only: float with float is above. */
__attribute__((unused)) static inline double min(float a, double b)
{
    return min((double)a, b);
}
__attribute__((unused)) static inline double min(double a, float b)
{
    return min(a, (double)b);
}
__attribute__((unused)) static inline double max(float a, double b)
{
    return max((double)a, b);
}
__attribute__((unused)) static inline double max(double a, float b)
{
    return max(a, (double)b);
}

#endif

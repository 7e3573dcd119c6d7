/* SPDX-License-Identifier: MIT
 * number.c: see number.h.
 */
#include "number.h"

#include <stddef.h>

static bool is_decimal(char c)
{
    return c >= '0' && c <= '9';
}

const char *vgpu_number_at(const char *text, uint64_t most, uint64_t *value)
{
    uint64_t number = 0;
    if (!text || !is_decimal(*text))
        return NULL;
    for (; is_decimal(*text); text++)
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(*text - '0'), &number))
            return NULL;
    if (number > most)
        return NULL;
    *value = number;
    return text;
}

bool vgpu_number(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    uint64_t number;
    const char *rest = vgpu_number_at(text, most, &number);
    if (!rest || *rest || number < least)
        return false;
    *value = number;
    return true;
}

/* The shift for a unit (K, M, G or none); -1: not a unit. */
static int shift_of(const char *unit)
{
    int shift = *unit == 'K' || *unit == 'k'   ? 10
                : *unit == 'M' || *unit == 'm' ? 20
                : *unit == 'G' || *unit == 'g' ? 30
                                               : 0;
    return shift ? (unit[1] ? -1 : shift) : (*unit ? -1 : 0);
}

bool vgpu_size(const char *text, uint64_t *bytes)
{
    uint64_t number;
    const char *unit = vgpu_number_at(text, UINT64_MAX, &number);
    int shift = unit ? shift_of(unit) : -1;
    if (shift < 0 || number > UINT64_MAX >> shift)
        return false;
    *bytes = number << shift;
    return true;
}

const char *vgpu_decimal_at(const char *text, double *value)
{
    uint64_t whole;
    double number, place = 0.1;
    text = vgpu_number_at(text, UINT64_MAX, &whole);
    if (!text)
        return NULL;
    number = (double)whole;
    if (*text == '.') {
        if (!is_decimal(*++text))
            return NULL;
        for (; is_decimal(*text); text++, place /= 10)
            number += place * (*text - '0');
    }
    *value = number;
    return text;
}

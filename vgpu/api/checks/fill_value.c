/* SPDX-License-Identifier: MIT
 * fill_value.c: reports fills of bytes (cudaMemset) with a value that does not fit into a byte. The
 * call uses the lowest byte and succeeds.
 */
#include "checks.h"

#include <stdio.h>

#include "check.h"

void vgpu__check_fill_value(const char *call, int value)
{
    char where[160], text[500];
    unsigned int byte = (unsigned char)value;
    if (!(vgpu__process.checks & VGPU_CHECK_API) || (value >= -128 && value <= 255))
        return;
    vgpu__symbolize(vgpu__caller(), where, sizeof where);
    snprintf(text, sizeof text,
             "%s%s%s is given the value %d (0x%x), and fills bytes: each becomes 0x%02x, and an "
             "int of them %d; fill with a kernel, or give a value from 0 to 255",
             call, where[0] ? " at " : "", where, value, (unsigned int)value, byte,
             (int)(byte * 0x01010101u));
    vgpu__finding(VGPU_DIAGNOSIS_api_fill_value, call, vgpu__caller(), text);
}

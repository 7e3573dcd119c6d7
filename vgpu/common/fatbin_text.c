/* SPDX-License-Identifier: MIT
 * fatbin_text.c: see fatbin_text.h.
 */
#include "fatbin_text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "fatbin.h"

static const char digits[] = "0123456789abcdef";

char *vgpu_fatbin_to_text(const void *record, size_t bytes)
{
    const size_t head = sizeof VGPU_FATBIN_TEXT - 1;
    const unsigned char *from = record;
    char *text = malloc(head + 2 * bytes + 2), *to = text + head;

    if (!text)
        return NULL;
    memcpy(text, VGPU_FATBIN_TEXT, head);
    for (size_t i = 0; i < bytes; i++) {
        *to++ = digits[from[i] >> 4];
        *to++ = digits[from[i] & 15];
    }
    memcpy(to, "\n", 2);
    return text;
}

void *vgpu_fatbin_from_text(const char *text)
{
    const size_t head = sizeof VGPU_FATBIN_TEXT - 1;

    if (strncmp(text, VGPU_FATBIN_TEXT, head) != 0)
        return NULL;
    text += head;
    size_t bytes = strspn(text, digits) / 2;
    unsigned char *record = bytes >= sizeof(struct vgpu_fatbin) ? malloc(bytes) : NULL;
    if (!record)
        return NULL;
    for (size_t i = 0; i < bytes; i++) {
        size_t high = (size_t)(strchr(digits, text[2 * i]) - digits);
        size_t low = (size_t)(strchr(digits, text[2 * i + 1]) - digits);
        record[i] = (unsigned char)(high << 4 | low);
    }
    struct vgpu_fatbin is;
    memcpy(&is, record, sizeof is);
    if (is.bytes == bytes && memcmp(is.magic, VGPU_FATBIN_MAGIC, sizeof is.magic) == 0)
        return record;
    free(record);
    return NULL;
}

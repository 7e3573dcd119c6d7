/* SPDX-License-Identifier: MIT
 * feature_list.c: see feature_list.h.
 */
#include "feature_list.h"

#include <stddef.h>
#include <string.h>

enum kind { exact, modelled, approximated, not_modelled, KINDS };

static const char *const feature_kinds[KINDS] = {"exact", "modelled", "approximated",
                                                 "not modelled"};

static const struct feature {
    enum kind kind;
    const char *title, *sentence;
} features[VGPU_FEATURES] = {
#define FEATURE(kind, name, title, sentence) {kind, title, sentence},
#define DEVICE_CODE(name, symbol)
#include "feature_list.def"
#undef FEATURE
#undef DEVICE_CODE
};

static const struct device_code {
    enum vgpu_feature feature;
    const char *symbol; /* between two zeros, as in an ELF file's table of strings */
    size_t bytes;
} device_code[] = {
#define FEATURE(kind, name, title, sentence)
#define DEVICE_CODE(name, symbol) {VGPU_FEATURE_##name, "\0" symbol, sizeof symbol + 1},
#include "feature_list.def"
#undef FEATURE
#undef DEVICE_CODE
};

uint64_t vgpu_features_of_image(const void *begin, const void *end)
{
    uint64_t set = 0;
    size_t bytes = (size_t)((const char *)end - (const char *)begin);
    for (size_t i = 0; i < sizeof device_code / sizeof *device_code; i++) {
        uint64_t bit = 1ull << device_code[i].feature;
        if (!(set & bit) && memmem(begin, bytes, device_code[i].symbol, device_code[i].bytes))
            set |= bit;
    }
    return set;
}

void vgpu_features_print(FILE *to, uint64_t set)
{
    for (int kind = 0; kind < KINDS; kind++)
        for (int i = 0; i < VGPU_FEATURES; i++)
            if (features[i].kind == (enum kind)kind && set >> i & 1)
                fprintf(to, "  %-13s %s: %s\n", feature_kinds[kind], features[i].title,
                        features[i].sentence);
}

/* SPDX-License-Identifier: MIT
 * check.c: see check.h.
 */
#include "check.h"

#include <stdio.h>
#include <string.h>

static const struct word {
    const char *text;
    uint32_t checks;
} words[] = {
    {"order", VGPU_CHECK_ORDER},
    {"api", VGPU_CHECK_API},
    {"leaks", VGPU_CHECK_LEAKS},
    {"advice", VGPU_CHECK_ADVICE},
    {"kernels", VGPU_CHECK_KERNELS},
    {"all", VGPU_CHECK_ALL},
    {"none", 0},
};

static const struct word *find_check_word(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].text) == length && memcmp(words[i].text, text, length) == 0)
            return &words[i];
    return NULL;
}

bool vgpu_check_parse(const char *text, uint32_t *checks, char *bad, size_t room)
{
    *checks = VGPU_CHECK_DEFAULT;
    if (!text || !*text)
        return true;
    uint32_t all = 0;
    for (const char *at = text; at; at = *at ? at + 1 : NULL) {
        size_t length = strcspn(at, ",");
        const struct word *word = find_check_word(at, length);
        if (!word) {
            snprintf(bad, room, "%.*s", (int)length, at);
            return false;
        }
        all |= word->checks;
        at += length;
    }
    *checks = all;
    return true;
}

static const struct diagnosis {
    const char *code;
    uint32_t check;
} diagnoses[] = {
#define CHECK_order VGPU_CHECK_ORDER
#define CHECK_api VGPU_CHECK_API
#define CHECK_leaks VGPU_CHECK_LEAKS
#define CHECK_advice VGPU_CHECK_ADVICE
#define CHECK_kernels VGPU_CHECK_KERNELS
#define DIAGNOSIS(group, name, code, title) {code, CHECK_##group},
#include "diagnoses.def"
#undef DIAGNOSIS
};

const char *vgpu_diagnosis_code(enum vgpu_diagnosis diagnosis)
{
    return diagnoses[diagnosis].code;
}

bool vgpu_diagnosis_is_advice(enum vgpu_diagnosis diagnosis)
{
    return diagnoses[diagnosis].check == VGPU_CHECK_ADVICE;
}

uint32_t vgpu_diagnosis_check(enum vgpu_diagnosis diagnosis)
{
    return diagnoses[diagnosis].check;
}

void vgpu_diagnosis_sign(enum vgpu_diagnosis diagnosis, char *text, size_t room)
{
    char end[128];
    const char *code = vgpu_diagnosis_code(diagnosis);
    int need = snprintf(end, sizeof end, " [%s; ./lab explain %s]", code, code);
    size_t used = strlen(text);
    if (need < 0 || room < (size_t)need + 1)
        return;
    if (used + (size_t)need + 1 > room)
        used = room - (size_t)need - 1;
    memcpy(text + used, end, (size_t)need + 1);
}

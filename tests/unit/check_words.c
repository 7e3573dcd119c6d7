/* SPDX-License-Identifier: MIT
 * check_words.c: VGPU_CHECK's words, and the table of diagnoses: codes are unique, and say which
 * word switches them on.
 */
#include "check.h"

#include <string.h>

#include "unit.h"

#define SO(condition) EXPECT(condition, "%s", "")

static uint32_t bits(const char *text)
{
    uint32_t checks = 0xdead;
    char bad[32];
    SO(vgpu_check_parse(text, &checks, bad, sizeof bad));
    return checks;
}

static void refuses(const char *text, const char *word)
{
    uint32_t checks = 0xdead;
    char bad[8] = "";
    SO(!vgpu_check_parse(text, &checks, bad, sizeof bad));
    SO(checks == VGPU_CHECK_DEFAULT);
    SO(strcmp(bad, word) == 0);
}

UNIT(words_of_vgpu_check)
{
    SO(bits(NULL) == VGPU_CHECK_DEFAULT);
    SO(bits("") == VGPU_CHECK_DEFAULT);
    SO(bits("none") == 0);
    SO(bits("all") == VGPU_CHECK_ALL);
    SO(bits("order") == VGPU_CHECK_ORDER);
    SO(bits("leaks,kernels") == (VGPU_CHECK_LEAKS | VGPU_CHECK_KERNELS));
    SO(bits("api,order,leaks,advice,kernels") == VGPU_CHECK_ALL);
    refuses("orders", "orders");
    refuses("order,,api", "");
    refuses("order, api", " api");
    refuses("order,everything", "everyth"); /* cut */
    refuses("all,", "");
}

UNIT(diagnoses_say_their_word)
{
    static const char *const group[] = {"order.", "api.", "leaks.", "advice.", "kernels."};
    for (enum vgpu_diagnosis i = 0; i < VGPU_DIAGNOSES; i++) {
        const char *code = vgpu_diagnosis_code(i);
        uint32_t check = vgpu_diagnosis_check(i);
        bool known = false;
        for (int g = 0; g < 5; g++)
            known |= check == 1u << g && strncmp(code, group[g], strlen(group[g])) == 0;
        EXPECT(known, "%s does not say its word", code);
        SO(vgpu_diagnosis_is_advice(i) == (check == VGPU_CHECK_ADVICE));
        for (enum vgpu_diagnosis k = 0; k < i; k++)
            SO(strcmp(code, vgpu_diagnosis_code(k)) != 0);
    }
}

UNIT(signature_of_a_diagnosis_fits)
{
    char text[64] = "what happened";
    vgpu_diagnosis_sign(VGPU_DIAGNOSIS_order_gpus, text, sizeof text);
    SO(strcmp(text, "what happened [order.gpus; ./lab explain order.gpus]") == 0);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    vgpu_diagnosis_sign(VGPU_DIAGNOSIS_order_gpus, text, sizeof text);
    SO(strlen(text) == sizeof text - 1 && strstr(text, "x [order.gpus; "));
    SO(text[sizeof text - 2] == ']');
}

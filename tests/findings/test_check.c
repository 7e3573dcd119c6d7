/* SPDX-License-Identifier: MIT
 * test_check.c: VGPU_CHECK's words, and the table of diagnoses: codes are unique, and say which
 * word switches them on.
 */
#include "check.h"

#include <stdio.h>
#include <string.h>

static int wrong;

#define EXPECT(condition)                                                                          \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            wrong++;                                                                               \
        }                                                                                          \
    } while (0)

static uint32_t bits(const char *text)
{
    uint32_t checks = 0xdead;
    char bad[32];
    EXPECT(vgpu_check_parse(text, &checks, bad, sizeof bad));
    return checks;
}

static void refuses(const char *text, const char *word)
{
    uint32_t checks = 0xdead;
    char bad[8] = "";
    EXPECT(!vgpu_check_parse(text, &checks, bad, sizeof bad));
    EXPECT(checks == VGPU_CHECK_DEFAULT);
    EXPECT(strcmp(bad, word) == 0);
}

static void check_words(void)
{
    EXPECT(bits(NULL) == VGPU_CHECK_DEFAULT);
    EXPECT(bits("") == VGPU_CHECK_DEFAULT);
    EXPECT(bits("none") == 0);
    EXPECT(bits("all") == VGPU_CHECK_ALL);
    EXPECT(bits("order") == VGPU_CHECK_ORDER);
    EXPECT(bits("leaks,kernels") == (VGPU_CHECK_LEAKS | VGPU_CHECK_KERNELS));
    EXPECT(bits("api,order,leaks,advice,kernels") == VGPU_CHECK_ALL);
    refuses("orders", "orders");
    refuses("order,,api", "");
    refuses("order, api", " api");
    refuses("order,everything", "everyth"); /* cut */
    refuses("all,", "");
}

static void check_table(void)
{
    static const char *const group[] = {"order.", "api.", "leaks.", "advice.", "kernels."};
    for (int i = 0; i < VGPU_DIAGNOSES; i++) {
        const char *code = vgpu_diagnosis_code(i);
        uint32_t check = vgpu_diagnosis_check(i);
        bool known = false;
        for (int g = 0; g < 5; g++)
            known |= check == 1u << g && strncmp(code, group[g], strlen(group[g])) == 0;
        if (!known)
            fprintf(stderr, "%s does not say its word\n", code);
        EXPECT(known);
        EXPECT(vgpu_diagnosis_is_advice(i) == (check == VGPU_CHECK_ADVICE));
        for (int k = 0; k < i; k++)
            EXPECT(strcmp(code, vgpu_diagnosis_code(k)) != 0);
    }
}

static void check_signature(void)
{
    char text[64] = "what happened";
    vgpu_diagnosis_sign(VGPU_DIAGNOSIS_order_gpus, text, sizeof text);
    EXPECT(strcmp(text, "what happened [order.gpus; ./lab explain order.gpus]") == 0);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    vgpu_diagnosis_sign(VGPU_DIAGNOSIS_order_gpus, text, sizeof text);
    EXPECT(strlen(text) == sizeof text - 1 && strstr(text, "x [order.gpus; "));
    EXPECT(text[sizeof text - 2] == ']');
}

int main(void)
{
    check_words();
    check_table();
    check_signature();
    return wrong != 0;
}

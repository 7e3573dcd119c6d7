/* SPDX-License-Identifier: MIT
 * target_lexer.c: libFuzzer's entry to vgpu-cc's tokenizer: any bytes, every lexeme inside the
 * text, in order, and an end.
 */
#include "lex.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        return 0;
    memcpy(text, data, size);
    text[size] = 0;
    struct cc_lexer lexer;
    cc_lex_start(&lexer, text, size);
    const char *before = text;
    for (size_t count = 0;; count++) {
        struct cc_lexeme one = cc_lex(&lexer);
        if (one.length == 0)
            break;
        if (one.text < before || one.text + one.length > text + size || count > size)
            abort();
        before = one.text + one.length;
    }
    free(text);
    return 0;
}

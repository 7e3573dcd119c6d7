/* SPDX-License-Identifier: MIT
 * mem.h: memory and text of vgpu-cc.
 *
 * A compiler run is short: all memory comes from one arena and is never freed. If memory runs out
 * the program ends with a message, so no caller checks for null.
 */
#ifndef VGPU_CC_MEM_H
#define VGPU_CC_MEM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zeroed memory, aligned for anything. */
void *cc_alloc(size_t bytes);

/* A copy of text[0 .. length), ended by a zero byte. */
char *cc_copy(const char *text, size_t length);

/* As asprintf. */
char *cc_format(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *cc_vformat(const char *format, va_list args);

/* Grows an array of `count` elements of `size` bytes that is full: room for at least one more.
 * Updates *capacity. */
void *cc_grow(void *elements, size_t count, size_t *capacity, size_t size);

/* Growable text. Initialised with {0}; `data` is NUL-terminated once something was put. */
struct cc_text {
    char *data;
    size_t length, capacity;
};

void cc_put(struct cc_text *text, const char *bytes, size_t length);
void cc_puts(struct cc_text *text, const char *string);
void cc_putf(struct cc_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A list of strings with a null pointer at the end, for exec. Initialised with {0}. */
struct cc_list {
    const char **item;
    size_t count, capacity;
};

void cc_add(struct cc_list *list, const char *string);
void cc_add_all(struct cc_list *list, const struct cc_list *more);
/* Adds the words, which blanks separate, with a string for each %s in them; one with blanks stays
 * in its word. */
void cc_add_line(struct cc_list *list, const char *words, ...)
    __attribute__((format(printf, 2, 3)));
bool cc_has_word(const struct cc_list *words, const char *word);
/* The last word that starts so, or null. */
const char *cc_last_with(const struct cc_list *words, const char *prefix);
/* Is it one of the words, which blanks separate? */
bool cc_is_among(const char *word, const char *words);

/* Whether text[0 .. length) equals the string `word`. */
bool cc_is(const char *text, size_t length, const char *word);
bool cc_starts(const char *string, const char *prefix);
bool cc_ends(const char *string, const char *suffix);

/* FNV-1a, of the text behind that whose hash is `start`; CC_HASH_OF_NONE: there is none. */
#define CC_HASH_OF_NONE 0xcbf29ce484222325
uint64_t cc_hash(uint64_t start, const char *text);

/* "sum.cu" of "src/sum.cu". */
const char *cc_base_name(const char *path);
/* The path with the suffix (".o") in the place of its own, if it has one. */
const char *cc_with_suffix(const char *path, const char *suffix);

/* The whole file, or null (errno says why). */
char *cc_read_file(const char *path, size_t *length);

#endif

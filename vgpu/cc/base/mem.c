/* SPDX-License-Identifier: MIT
 * mem.c: see mem.h.
 */
#include "mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_BYTES = 1 << 20, ALIGN = 16 };

void *cc_alloc(size_t bytes)
{
    static char *chunk; /* it begins with the address of the one before */
    static size_t used, room;
    char *older = chunk;

    bytes = (bytes + ALIGN - 1) / ALIGN * ALIGN;
    if (room - used < bytes) {
        room = ALIGN + (bytes > CHUNK_BYTES ? bytes : CHUNK_BYTES);
        used = ALIGN;
        chunk = calloc(1, room);
        if (chunk == NULL) {
            fprintf(stderr, "vgpu-cc: out of memory (%zu bytes asked for)\n", bytes);
            exit(1);
        }
        memcpy(chunk, &older, sizeof older);
    }
    used += bytes;
    return chunk + used - bytes;
}

char *cc_copy(const char *text, size_t length)
{
    char *copy = cc_alloc(length + 1);

    memcpy(copy, text, length);
    return copy;
}

char *cc_vformat(const char *format, va_list args)
{
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = cc_alloc((size_t)length + 1);

    vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    return text;
}

char *cc_format(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = cc_vformat(format, args);

    va_end(args);
    return text;
}

void *cc_grow(void *elements, size_t count, size_t *capacity, size_t size)
{
    size_t old = *capacity;

    if (count < old)
        return elements;
    *capacity = old != 0 ? old * 2 : 16;
    void *more = cc_alloc(*capacity * size);
    return old != 0 ? memcpy(more, elements, old * size) : more;
}

void cc_put(struct cc_text *text, const char *bytes, size_t length)
{
    size_t needed = text->length + length + 1;

    if (needed > text->capacity) {
        char *data = cc_alloc(text->capacity = needed * 2);
        text->data = text->length != 0 ? memcpy(data, text->data, text->length) : data;
    }
    if (length != 0)
        memcpy(text->data + text->length, bytes, length);
    text->length += length;
    text->data[text->length] = 0;
}

void cc_puts(struct cc_text *text, const char *string)
{
    cc_put(text, string, strlen(string));
}

void cc_putf(struct cc_text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    cc_puts(text, cc_vformat(format, args));
    va_end(args);
}

void cc_add(struct cc_list *list, const char *string)
{
    /* One more slot for the null pointer at the end. */
    list->item = cc_grow(list->item, list->count + 1, &list->capacity, sizeof *list->item);
    list->item[list->count++] = string;
    list->item[list->count] = NULL;
}

void cc_add_all(struct cc_list *list, const struct cc_list *more)
{
    for (size_t i = 0; i < more->count; i++)
        cc_add(list, more->item[i]);
}

void cc_add_line(struct cc_list *list, const char *words, ...)
{
    va_list args;

    va_start(args, words);
    for (; *words != 0; words += strspn(words, " ")) {
        struct cc_text word = {0};
        for (; *words != 0 && *words != ' '; words++)
            if (!cc_starts(words, "%s")) {
                cc_put(&word, words, 1);
            } else {
                cc_puts(&word, va_arg(args, const char *));
                words++;
            }
        cc_add(list, word.data);
    }
    va_end(args);
}

bool cc_has_word(const struct cc_list *words, const char *word)
{
    for (size_t i = 0; i < words->count; i++)
        if (strcmp(words->item[i], word) == 0)
            return true;
    return false;
}

const char *cc_last_with(const struct cc_list *words, const char *prefix)
{
    for (size_t i = words->count; i > 0; i--)
        if (cc_starts(words->item[i - 1], prefix))
            return words->item[i - 1];
    return NULL;
}

bool cc_is_among(const char *word, const char *words)
{
    for (; *words != 0; words += strspn(words, " ")) {
        size_t length = strcspn(words, " ");
        if (cc_is(words, length, word))
            return true;
        words += length;
    }
    return false;
}

bool cc_is(const char *text, size_t length, const char *word)
{
    return strlen(word) == length && memcmp(text, word, length) == 0;
}

bool cc_starts(const char *string, const char *prefix)
{
    return strncmp(string, prefix, strlen(prefix)) == 0;
}

bool cc_ends(const char *string, const char *suffix)
{
    size_t length = strlen(string), tail = strlen(suffix);

    return length >= tail && strcmp(string + length - tail, suffix) == 0;
}

uint64_t cc_hash(uint64_t start, const char *text)
{
    for (; *text != 0; text++)
        start = (start ^ (unsigned char)*text) * 0x100000001b3;
    return start;
}

const char *cc_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash != NULL ? slash + 1 : path;
}

const char *cc_with_suffix(const char *path, const char *suffix)
{
    const char *dot = strrchr(cc_base_name(path), '.');
    size_t length = dot != NULL ? (size_t)(dot - path) : strlen(path);

    return cc_format("%.*s%s", (int)length, path, suffix);
}

char *cc_read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    struct cc_text text = {0};
    char part[1 << 16];
    size_t got;

    if (file == NULL)
        return NULL;
    cc_put(&text, "", 0);
    while ((got = fread(part, 1, sizeof part, file)) > 0)
        cc_put(&text, part, got);
    bool bad = ferror(file) != 0;
    fclose(file);
    *length = text.length;
    return bad ? NULL : text.data;
}

/* SPDX-License-Identifier: MIT
 * diag.c: see diag.h.
 */
#include "diag.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct finding {
    struct cc_place place;
    const char *message;
    bool is_error;
};

static struct finding *found; /* not printed yet */
static size_t found_count, found_capacity;
static int errors;

/* Prints the line of the user's file, and a caret; nothing if the file cannot be read. */
static void quote_line(struct cc_place place)
{
    size_t length;
    const char *at = cc_read_file(place.file, &length);

    for (int line = 1; at != NULL && line < place.line; line++) {
        at = strchr(at, '\n');
        at = at != NULL ? at + 1 : NULL;
    }
    if (at == NULL || *at == 0)
        return;
    int width = (int)strcspn(at, "\r\n");
    fprintf(stderr, "%5d | %.*s\n      | ", place.line, width, at);
    for (int i = 0; i + 1 < place.column && i < width; i++)
        fputc(at[i] == '\t' ? '\t' : ' ', stderr);
    fputs("^\n", stderr);
}

static void say(struct finding finding)
{
    struct cc_place place = finding.place;
    bool color = isatty(STDERR_FILENO) != 0;
    const char *kind = finding.is_error ? "error:" : "warning:";

    if (color)
        kind = cc_format("\033[%dm%s\033[0m", finding.is_error ? 31 : 35, kind);
    fprintf(stderr, "%s%s:%d:%d: %s %s\n", color ? "\033[1m" : "", place.file, place.line,
            place.column, kind, finding.message);
    quote_line(place);
}

void cc_add_message(bool is_error, struct cc_place place, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    found = cc_grow(found, found_count, &found_capacity, sizeof *found);
    found[found_count++] = (struct finding){place, cc_vformat(format, args), is_error};
    va_end(args);
    errors += is_error;
}

static int in_order(const void *a, const void *b)
{
    const struct finding *x = a, *y = b;
    int order = strcmp(x->place.file, y->place.file);

    if (order == 0)
        order = x->place.line - y->place.line;
    if (order == 0)
        order = x->place.column - y->place.column;
    return order != 0 ? order : strcmp(x->message, y->message);
}

bool cc_say_all(void)
{
    if (found_count != 0)
        qsort(found, found_count, sizeof *found, in_order);
    for (size_t i = 0; i < found_count; i++)
        if (i == 0 || in_order(&found[i - 1], &found[i]) != 0)
            say(found[i]);
    found_count = 0;
    return errors == 0;
}

bool cc_fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fprintf(stderr, "vgpu-cc: %s\n", cc_vformat(format, args));
    va_end(args);
    errors++;
    return false;
}

void cc_end(void)
{
    cc_say_all();
    exit(EXIT_FAILURE);
}

int cc_error_count(void)
{
    return errors;
}

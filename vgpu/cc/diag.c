/* SPDX-License-Identifier: MIT
 * diag.c: see diag.h.
 */
#include "diag.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static struct cc_list said;
static int errors;

static bool was_said(const char *message)
{
    for (size_t i = 0; i < said.count; i++)
        if (strcmp(said.item[i], message) == 0)
            return true;
    cc_add(&said, message);
    return false;
}

/* The line of the user's file, and a caret; nothing when the file cannot be read. */
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

static bool say(struct cc_place place, const char *kind, const char *color, const char *message)
{
    char *where = cc_format("%s:%d:%d:", place.file, place.line, place.column);

    if (was_said(cc_format("%s %s %s", where, kind, message)))
        return false;
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\033[1m%s \033[%sm%s:\033[0m %s\n", where, color, kind, message);
    else
        fprintf(stderr, "%s %s: %s\n", where, kind, message);
    quote_line(place);
    return true;
}

void cc_error(struct cc_place place, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    if (say(place, "error", "1;31", cc_vformat(format, args)))
        errors++;
    va_end(args);
}

void cc_warning(struct cc_place place, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say(place, "warning", "1;35", cc_vformat(format, args));
    va_end(args);
}

void cc_fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fprintf(stderr, "vgpu-cc: %s\n", cc_vformat(format, args));
    va_end(args);
    errors++;
}

int cc_error_count(void)
{
    return errors;
}

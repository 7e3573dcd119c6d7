/* SPDX-License-Identifier: MIT
 * output.c: the output of a runner. Up to 64 KiB per stream are kept and the last lines are shown;
 * no verdict depends on them.
 */
#include "output.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TAIL_LINES 5
#define TAIL_BYTES 600

int lab__stream_read(struct lab_stream *stream)
{
    char chunk[8192];
    for (;;) {
        ssize_t n = read(stream->fd, chunk, sizeof chunk);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        if (n == 0)
            return 0;
        size_t room = LAB_KEEP_BYTES - stream->kept;
        size_t kept = (size_t)n < room ? (size_t)n : room;
        memcpy(stream->text + stream->kept, chunk, kept);
        stream->kept += kept;
        stream->text[stream->kept] = 0;
        stream->total += (uint64_t)n;
        if (stream->total > LAB_FLOOD_BYTES)
            return 1; /* the caller sees the limit; reading on would last as long as the program
                         prints */
    }
}

/* ---- findings: ": finding: SENTENCE", indented lines, "[CODE; ...]" at the end ---- */

static const char finding_mark[] = ": finding: ";

/* End of the finding that begins at `from`: the first line break that no indented line follows. */
static const char *finding_end(const char *from, const char *end)
{
    while (from < end && (*from != '\n' || (from + 1 < end && from[1] == ' ')))
        from++;
    return from;
}

/* The finding's code, with "[" in front of it; *bytes: its length, 0 if there is none. */
static const char *finding_code(const char *from, const char *end, size_t *bytes)
{
    const char *code = memrchr(from, '[', (size_t)(end - from));
    *bytes = code ? strcspn(code, ";] \n") : 0;
    return code;
}

/* How often a finding names a line of `file`, a name without folders: 2 for both ends of a race. */
static int count_places(const char *from, const char *end, const char *file, int *line)
{
    const size_t length = strlen(file);
    int count = 0;
    *line = 0;
    for (const char *at = from; length > 0; at++) {
        at = memmem(at, (size_t)(end - at), file, length);
        if (!at)
            break;
        if (at[length] != ':' || (at > from && !strchr(" /(", at[-1])))
            continue;
        if (count++ == 0)
            *line = atoi(at + length + 1);
    }
    return count;
}

/* A call that the tests made and did not check, say: misuse of calls in no line of `file`. */
static bool is_noise(const char *from, const char *end, const char *file, int count)
{
    size_t bytes;
    const char *code = finding_code(from, end, &bytes);
    return file[0] && count == 0 && code && bytes > 5 && memcmp(code, "[api.", 5) == 0;
}

static bool has_words(const char *from, const char *end, const char *words)
{
    return memmem(from, (size_t)(end - from), words, strlen(words)) != NULL;
}

/* Of two findings that name as many lines: whether this one is the cause. What was read too early
 * shows in results, what was overwritten too early later; threads that do not meet leave words
 * unwritten. */
static bool is_cause(const char *from, const char *end)
{
    return has_words(from, end, "[kernels.barrier;") || has_words(from, end, "[kernels.mask;") ||
           (has_words(from, end, " writes ") &&
            has_words(from, end, " reads them; nothing orders"));
}

/* The mark of the finding that names the most lines of `file`, of several a cause, and of these
 * the first; NULL: there is none. *line: the first of them, 0: none. */
static const char *best_finding(const char *text, const char *end, const char *file, int *line)
{
    const char *best = NULL, *at = text;
    int most = -1, where;
    *line = 0;
    while ((at = memmem(at, (size_t)(end - at), finding_mark, sizeof finding_mark - 1))) {
        const char *last = finding_end(at, end);
        int count = count_places(at, last, file, &where);
        int weight = 2 * count + is_cause(at, last);
        if (weight > most && !is_noise(at, last, file, count)) {
            best = at;
            most = weight;
            *line = where;
        }
        at = last;
    }
    return best;
}

/* Appends the codes of the findings that are not shown, each once: "and others: [CODE] [CODE]". */
static void list_others(const char *text, const char *end, const char *file, char *to, size_t room)
{
    const char *at = text;
    char word[80];
    size_t bytes, used = strlen(to), first = used;
    int line;
    while ((at = memmem(at, (size_t)(end - at), finding_mark, sizeof finding_mark - 1))) {
        const char *last = finding_end(at, end), *code = finding_code(at, last, &bytes);
        bool noise = is_noise(at, last, file, count_places(at, last, file, &line));
        at = last;
        if (noise || !code || bytes < 2 || bytes + 2 > sizeof word)
            continue;
        snprintf(word, sizeof word, "%.*s", (int)bytes, code);
        if (strstr(to, word) || used + bytes + 20 > room)
            continue;
        used += (size_t)snprintf(to + used, room - used, "%s %s]",
                                 used == first ? "\nand others:" : "", word);
    }
}

/* ---- what is told once, and what is not the learner's ---- */

static char *cut_out(char *from, const char *to)
{
    memmove(from, to, strlen(to) + 1);
    return from;
}

/* Replaces " MARK FILE:LINE" where FILE is one of the tests', up to the line's last digit, or to
 * the bracket that ends it. */
static void replace_places(char *text, const char *mark, const char *by, lab__ours *ours)
{
    const size_t head = strlen(mark), room = strlen(by);
    for (char *at = text; (at = strstr(at, mark)); at++) {
        const char *name = at + head, *end = name + strcspn(name, ": )");
        if (*end != ':' || !ours(name, (size_t)(end - name)))
            continue;
        end += 1 + strspn(end + 1, "0123456789");
        end += mark[1] == '(' && *end == ')';
        if ((size_t)(end - at) >= room)
            memcpy(cut_out(at, end - room), by, room);
    }
}

/* The number and the program of another process. */
static void replace_processes(char *text)
{
    static const char mark[] = " in process ", by[] = " of another process";
    for (char *at = text; (at = strstr(at, mark)); at++) {
        const char *end = at + sizeof mark - 1;
        end += strspn(end, "0123456789");
        const char *close = strncmp(end, " (", 2) == 0 ? strchr(end, ')') : NULL;
        if (close && close + 1 - at >= (ptrdiff_t)(sizeof by - 1))
            memcpy(cut_out(at, close + 1 - (sizeof by - 1)), by, sizeof by - 1);
    }
}

void lab__strip_ours(char *text, lab__ours *ours)
{
    replace_places(text, " (allocated at ", "", ours);
    replace_places(text, " at ", " of the test", ours);
    replace_places(text, ", ", "", ours); /* "(block (0,0,0), thread (0,0,0), runner.cu:23)" */
    replace_processes(text);
}

/* What a line says beyond the call and its numbers: behind the last ": " or "; ", or all of it. */
static const char *gist_of(const char *line, size_t bytes, size_t *gist)
{
    const char *at = line;
    for (const char *c = line; c + 1 < line + bytes; c++)
        if ((c[0] == ':' || c[0] == ';') && c[1] == ' ')
            at = c + 2;
    *gist = bytes - (size_t)(at - line);
    return at;
}

static const char *past_number(const char *at, const char *end)
{
    while (at < end && isxdigit((unsigned char)*at))
        at++;
    return at;
}

/* Whether the words at `at` are those of `said`, whatever the numbers in them. */
static bool same_words(const char *at, const char *end, const char *said, const char *last)
{
    while (said < last && at < end) {
        if (isdigit((unsigned char)*at) && isdigit((unsigned char)*said)) {
            at = past_number(at, end);
            said = past_number(said, last);
        } else if (*at++ != *said++) {
            return false;
        }
    }
    return said == last;
}

static bool says_already(const char *text, size_t bytes, const char *said, size_t length)
{
    for (size_t i = 0; i < bytes; i++)
        if (same_words(text + i, text + bytes, said, said + length))
            return true;
    return false;
}

/* Of the runtime's lines that say the same of several calls, keeps the first; drops those of calls
 * that fail because a test orders it. */
static size_t drop_repeated(char *text, size_t bytes)
{
    static const char head[] = "vgpu: ", ordered[] = "because VGPU_FAULT says so";
    char *to = text;
    for (char *line = text, *end = text + bytes; line < end;) {
        char *stop = memchr(line, '\n', (size_t)(end - line));
        size_t length = stop ? (size_t)(stop - line) : (size_t)(end - line), gist;
        bool drop = false;
        if (length > sizeof head && memcmp(line, head, sizeof head - 1) == 0) {
            const char *said = gist_of(line, length, &gist);
            drop = says_already(text, (size_t)(to - text), said, gist) ||
                   memmem(line, length, ordered, sizeof ordered - 1) != NULL;
        }
        size_t whole = length + (stop != NULL);
        if (!drop) {
            memmove(to, line, whole);
            to += whole;
        }
        line += whole;
    }
    return (size_t)(to - text);
}

/* Removes the findings: lab__stream_finding() has them. */
static size_t drop_findings(char *text, size_t bytes)
{
    char *from = text, *end = text + bytes, *mark;
    while ((mark = memmem(from, (size_t)(end - from), finding_mark, sizeof finding_mark - 1))) {
        char *last = (char *)finding_end(mark, end), *line = mark;
        while (line > text && line[-1] != '\n')
            line--;
        last += last < end; /* the line break */
        memmove(line, last, (size_t)(end - last));
        end -= last - line;
        from = line;
    }
    return (size_t)(end - text);
}

void lab__stream_tail(const struct lab_stream *stream, char *text, size_t room)
{
    static char all[LAB_KEEP_BYTES + 1];
    memcpy(all, stream->text, stream->kept);
    all[stream->kept] = 0;
    size_t end = drop_repeated(all, drop_findings(all, stream->kept)), start, lines = 0;
    while (end > 0 && (all[end - 1] == '\n' || all[end - 1] == 0))
        end--;
    for (start = end; start > 0 && end - start < TAIL_BYTES && start + room > end + 1; start--)
        if (all[start - 1] == '\n' && ++lines == TAIL_LINES)
            break;
    if (start > 0 && all[start - 1] != '\n') { /* no line without its beginning, if there is one */
        const char *next = memchr(all + start, '\n', end - start);
        start = next ? (size_t)(next + 1 - all) : start;
    }
    memcpy(text, all + start, end - start);
    text[end - start] = 0;
    for (size_t i = 0; i < end - start; i++)
        if (text[i] == 0)
            text[i] = '?';
    lab__clean(text);
}

int lab__stream_finding(const struct lab_stream *stream, const char *file, lab__ours *ours,
                        char *text, size_t room)
{
    const char *end = stream->text + stream->kept;
    int line;
    const char *from = best_finding(stream->text, end, file, &line);
    text[0] = 0;
    if (!from) { /* what the runtime says of a kernel's fault names a line, too */
        if (stream->kept > 6 && memcmp(stream->text, "vgpu: ", 6) == 0)
            count_places(stream->text, end, file, &line);
        return line;
    }
    from += sizeof finding_mark - 1;
    const char *to = finding_end(from, end);
    size_t bytes = (size_t)(to - from) < room - 1 ? (size_t)(to - from) : room - 1;
    memcpy(text, from, bytes);
    text[bytes] = 0;
    lab__strip_ours(text, ours);
    list_others(stream->text, end, file, text, room);
    lab__clean(text);
    return line;
}

/* ---- cleaning ---- */

/* Length of the well-formed and printable UTF-8 sequence at s, 0 if there is none. */
static int shown_length(const unsigned char *s)
{
    int length = s[0] < 0x80 ? 1 : (s[0] & 0xe0) == 0xc0 ? 2 : (s[0] & 0xf0) == 0xe0 ? 3 : 4;
    uint32_t code = s[0];
    if (length == 1)
        return s[0] >= 0x20 && s[0] != 0x7f;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    code &= 0x7fu >> length;
    for (int i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | (s[i] & 0x3f);
    }
    bool overlong = code < (length == 2 ? 0x80u : length == 3 ? 0x800u : 0x10000u);
    bool control = code < 0xa0 || (code >= 0x202a && code <= 0x202e) ||
                   (code >= 0x2066 && code <= 0x2069); /* C1, direction overrides */
    bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return overlong || control || surrogate || code > 0x10ffff ? 0 : length;
}

/* Breaks words that ctest recognises, or scripts that grep our own output, by overwriting the first
 * byte of each. */
static void break_words(char *text)
{
    static const char *const words[] = {"not written yet", "CTEST_FULL_OUTPUT", "<DartMeasurement",
                                        "<CTestMeasurement", "<CTestDetails"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (char *at = text; (at = strstr(at, words[i])); at++)
            *at = '?';
}

void lab__clean(char *text)
{
    unsigned char *at = (unsigned char *)text;
    while (*at) {
        int length = *at == '\n' || *at == '\t' ? 1 : shown_length(at);
        if (length == 0)
            *at = '?';
        at += length ? length : 1;
    }
    break_words(text);
}

/* SPDX-License-Identifier: MIT
 * compared.c: what happened beside what must happen: which simple mistake makes the one of the
 * other. A sentence that stands in place of the case's fixed rule; none where nothing simple fits.
 */
#include "run.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PIECE = 16,       /* bytes that are looked for elsewhere in an array */
    REASON_WORDS = 3, /* at least, of a reason */
};

/* ---- arrays ---- */

static bool is_all(const unsigned char *at, size_t n, unsigned char value)
{
    return n > 0 && at[0] == value && memcmp(at, at + 1, n - 1) == 0;
}

/* Equal bytes tell who wrote them, or that they were not written. */
static const char *meaning_of_byte(unsigned char value)
{
    switch (value) {
    case 0:
        return "it is zero: it was never written, or the wrong memory was cleared";
    case 0xA5:
        return "it still holds what the test wrote there: your code did not write it";
    case 0xCB:
        return "it is GPU memory that had not been written when it was read";
    default:
        return "all its bytes have the same value, so this is probably what was there before";
    }
}

static size_t first_difference(const unsigned char *g, const unsigned char *w, size_t n)
{
    size_t i = 0;
    while (i < n && g[i] == w[i])
        i++;
    return i;
}

static size_t end_of_difference(const unsigned char *g, const unsigned char *w, size_t n)
{
    while (n > 0 && g[n - 1] == w[n - 1])
        n--;
    return n;
}

/* Where the wrong bytes are, as the beginning of a sentence. */
static int say_part(char *text, size_t room, size_t from, size_t to, size_t n)
{
    if (from == 0 && to == n)
        return snprintf(text, room, "all of it is wrong: ");
    if (to == n)
        return snprintf(text, room,
                        "the first %zu are right, from there on all may be wrong: ", from);
    return snprintf(text, room, "only numbers %zu to %zu of %zu are wrong: ", from, to - 1, n);
}

void lab__compare_arrays(struct lab_test *t, const void *got, const void *want, size_t n,
                         size_t each)
{
    const unsigned char *g = got, *w = want;
    char *text = t->compared;
    const size_t room = sizeof t->compared, bytes = n * each;
    size_t from = first_difference(g, w, bytes) / each;
    size_t to = (end_of_difference(g, w, bytes) + each - 1) / each, begin = from * each;
    t->compares = true;
    if (from >= to)
        return;
    int used = say_part(text, room, from, to, n);
    const unsigned char *there =
        (to - from) * each >= PIECE ? memmem(w, bytes, g + begin, PIECE) : NULL;
    size_t place = there ? (size_t)(there - w) / each : 0;
    if (is_all(g + begin, (to - from) * each, g[begin]))
        snprintf(text + used, room - (size_t)used, "%s", meaning_of_byte(g[begin]));
    else if (there)
        snprintf(text + used, room - (size_t)used,
                 "what came to number %zu belongs to number %zu, which is %zu %s", from, place,
                 place > from ? place - from : from - place, place > from ? "later" : "earlier");
    else
        text[0] = 0;
}

/* ---- results ---- */

/* What is wrong where this result must have been: LAB_OK came in its place, or another error; and
 * what is wrong where it came in the place of LAB_OK. */
static const struct {
    const char *name, *lost, *other, *unasked;
} results[] = {
    {"LAB_OK", "", "", ""},
    {"LAB_EINVAL",
     "the contract refuses one of these arguments, and your function accepted it: check all "
     "arguments before anything else",
     "one of these arguments is invalid, which comes first: check all arguments before anything "
     "else",
     "LAB_EINVAL means that an argument is invalid, and the contract allows these"},
    {"LAB_ENOGPU",
     "there is no such GPU, and your function did not report it: compare what is asked for with "
     "the GPUs that there are",
     "for a GPU that does not exist the result is LAB_ENOGPU",
     "LAB_ENOGPU means that a GPU which is asked for does not exist, and here none is missing"},
    {"LAB_ENOPEER", "the GPUs cannot reach each other, and your function did not report it",
     "for GPUs that cannot reach each other the result is LAB_ENOPEER",
     "LAB_ENOPEER means that GPUs have to reach each other and cannot: these can, or they need not "
     "for what is asked here"},
    {"LAB_ENOMEM",
     "something had run out (memory, or descriptors), and your function did not report it",
     "where there is not enough memory the result is LAB_ENOMEM",
     "LAB_ENOMEM means that there is not enough memory, and there is enough"},
    {"LAB_ECUDA",
     "here a CUDA call fails, or would if it were made as it must be, and your function lost the "
     "error: check what each call returns",
     "where a CUDA call fails the result is LAB_ECUDA",
     "LAB_ECUDA means that a CUDA call failed unexpectedly: check the arguments of your calls, and "
     "whether the error that a call returned is a failure at all"},
    {"LAB_EPEER",
     "another process has ended or does not listen, and your function did not report it",
     "where another process has ended, or its memory or events can no longer be used, the result "
     "is LAB_EPEER",
     "LAB_EPEER means that another process has ended, and none has"},
    {"LAB_ERANGE",
     "the contract has LAB_ERANGE for what does not fit, or lies outside of what was given, and "
     "your function accepted it",
     "for what does not fit the result is LAB_ERANGE",
     "LAB_ERANGE means that something does not fit, or lies outside of what was given, and this "
     "does fit"},
};
enum { RESULT_EINVAL = 1, RESULT_ENOGPU = 2, RESULT_ERANGE = 7 }; /* places in the table */

/* The result of lab.h that stands at `at`, also in brackets behind its number; -1: none. */
static int result_at(const char *at, const char *end)
{
    for (size_t i = 0; i < sizeof results / sizeof *results; i++) {
        size_t length = strlen(results[i].name);
        if ((size_t)(end - at) >= length && memcmp(at, results[i].name, length) == 0 &&
            (at + length == end || !isalnum((unsigned char)at[length])))
            return (int)i;
    }
    return -1;
}

/* ---- numbers ---- */

struct number {
    double value;
    int64_t bits; /* of a whole number */
    bool whole;
};

static bool read_told_number(const char *at, const char *end, struct number *to)
{
    char text[40], *rest;
    size_t length = (size_t)(end - at);
    if (length == 0 || length >= sizeof text)
        return false;
    memcpy(text, at, length);
    text[length] = 0;
    to->bits = text[0] == '-' ? strtoll(text, &rest, 0) : (int64_t)strtoull(text, &rest, 0);
    to->whole = !*rest;
    if (to->whole)
        to->value = text[0] == '-' ? (double)to->bits : (double)(uint64_t)to->bits;
    else
        to->value = strtod(text, &rest);
    return !*rest && isfinite(to->value);
}

static const char *unit_of(double factor)
{
    static const struct {
        double factor;
        const char *text;
    } units[] = {{1000, "1000 times"},    {1024, "1024 times"},      {1e6, "a million times"},
                 {1048576, "2^20 times"}, {1e9, "a milliard times"}, {1073741824, "2^30 times"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (fabs(factor - units[i].factor) < 1e-4 * units[i].factor)
            return units[i].text;
    return NULL;
}

static void tell_numbers_apart(char *text, size_t room, const struct number *got,
                               const struct number *want)
{
    const char *unit = want->value != 0 ? unit_of(got->value / want->value) : NULL;
    const char *part = got->value != 0 ? unit_of(want->value / got->value) : NULL;
    const bool whole = got->whole && want->whole;
    if (unit)
        snprintf(text, room, "it is %s what it must be: another unit", unit);
    else if (part)
        snprintf(text, room, "what it must be is %s as much: another unit", part);
    else if (whole && (uint32_t)got->bits == 0xCBCBCBCBu)
        snprintf(text, room, "0xCBCBCBCB is GPU memory that had not been written when it was read");
    else if (whole && (uint32_t)got->bits == 0xA5A5A5A5u)
        snprintf(text, room, "0xA5A5A5A5 is what the test wrote there: your code did not write it");
    else if (whole && ((uint32_t)got->bits == 0xAAAAAAAAu || (uint32_t)got->bits == 0xFEFEFEFEu))
        snprintf(text, room, "it is what a variable holds that was never given a value");
    else if (whole && (uint32_t)got->bits == (uint32_t)want->bits && got->bits != want->bits)
        snprintf(text, room, "the lower 32 bits are right: it went through an int, or an unsigned");
    else if (whole && labs(got->bits - want->bits) == 1 && labs(want->bits) > 1)
        snprintf(text, room,
                 "it is one too %s: does a count or a loop begin or end one place too early or too "
                 "late?",
                 got->bits > want->bits ? "many" : "few");
}

/* ---- promises of every contract, by what labs' tests say of them ---- */

enum promise { DEVICE, LAST_ERROR, OUTPUTS };

static const char *const why_promised[] = {
    [DEVICE] =
        "the current device belongs to the caller: ask for it first (cudaGetDevice), and set "
        "it again on every way out, also after an error",
    [LAST_ERROR] = "CUDA keeps its last error until cudaGetLastError clears it: a function that "
                   "expects an error, or returns one, clears it",
    [OUTPUTS] = "after an error the outputs must be as they were before: compute into variables of "
                "your own, and write to the caller's when nothing can fail any more",
};

static const struct {
    const char *said;
    enum promise promise;
} promises[] = {
    {"the current device was", DEVICE},
    {" current; before it was GPU ", DEVICE},
    {" was current before ", DEVICE},
    {" current before inv_mem(", DEVICE},
    {"CUDA's last error was still ", LAST_ERROR},
    {" left CUDA error ", LAST_ERROR},
    {", yet it wrote ", OUTPUTS},
    {" failed and wrote ", OUTPUTS},
    {" failed and changed ", OUTPUTS},
    {" failed and set ", OUTPUTS},
    {" returned an error and set ", OUTPUTS},
    {" (untouched)", OUTPUTS},
    {" is booked when it is refused", OUTPUTS},
};

/* Whether the message itself says what this promise means. */
static bool has_said(const struct lab_test *t, enum promise promise)
{
    return promise == LAST_ERROR ? strstr(t->message.at, "cudaGetLastError") != NULL
                                 : promise == OUTPUTS && t->reasons;
}

static void compare_promises(struct lab_test *t)
{
    for (size_t i = 0; i < sizeof promises / sizeof *promises && !t->promised; i++) {
        t->promised = strstr(t->message.at, promises[i].said) != NULL;
        if (t->promised && !has_said(t, promises[i].promise))
            snprintf(t->compared, sizeof t->compared, "%s", why_promised[promises[i].promise]);
    }
}

/* "... (was the right one current?)" */
static bool asks_in_brackets(const char *message, const char *end)
{
    return end - message > 2 && end[-1] == ')' && memchr(message, '(', (size_t)(end - message)) &&
           memchr(message, '?', (size_t)(end - message));
}

/* Whether a message ends in a reason of its own: "...: the caller will free that memory". */
static bool gives_reason(const char *message)
{
    size_t end = strcspn(message, "\n"), words = 0;
    const char *last = NULL;
    for (const char *at = message; at + 1 < message + end; at++)
        if (at[0] == ':' && at[1] == ' ')
            last = at + 1;
    for (const char *at = last; at && at < message + end; at++)
        words += *at == ' ';
    return (words >= REASON_WORDS && !strstr(last, "expected")) ||
           asks_in_brackets(message, message + end);
}

/* ---- messages: "... GOT, expected WANT ..." ---- */

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || c == '-' || c == '+';
}

static const char *told_word_end(const char *at)
{
    while (in_word(*at))
        at++;
    while (at[-1] == '.' || at[-1] == '-')
        at--;
    return at;
}

/* The beginning of the word that ends at `end`; steps over a name in brackets behind a number. */
static const char *told_word_before(const char *first, const char **end)
{
    const char *at = *end;
    if (at > first && at[-1] == ')') {
        const char *open = memrchr(first, '(', (size_t)(at - first));
        if (open && result_at(open + 1, at - 1) >= 0) {
            *end = at - 1;
            return open + 1;
        }
    }
    while (at > first && in_word(at[-1]))
        at--;
    return at;
}

/* Whether the number at `at` is what the sentence is about: "padded is 6744". */
static bool says_value(const char *message, const char *at)
{
    static const char *const verbs[] = {" is ",  " are ",   " was ",     " gave ",
                                        " got ", " reads ", " returned "};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        size_t length = strlen(verbs[i]);
        if ((size_t)(at - message) >= length && memcmp(at - length, verbs[i], length) == 0)
            return true;
    }
    return false;
}

void lab__compare_message(struct lab_test *t)
{
    static const char mark[] = ", expected ";
    const char *message = t->message.at, *end = strstr(message, mark);
    struct number got, want;
    if (t->compares)
        return;
    t->reasons = gives_reason(message);
    compare_promises(t);
    if (t->promised || !end || end == message)
        return;
    const char *right = end + sizeof mark - 1, *left = told_word_before(message, &end);
    const char *right_end = right < right + 1 && in_word(*right) ? told_word_end(right) : right;
    const char *bracket = strncmp(right_end, " (LAB_", 6) == 0 ? right_end + 2 : right;
    t->compares = true;
    int was = result_at(left, end), must = result_at(bracket, bracket + strcspn(bracket, " ,:;)"));
    t->results = was >= 0 && must >= 0;
    t->refused =
        t->results && (must == RESULT_EINVAL || must == RESULT_ENOGPU || must == RESULT_ERANGE);
    if (t->results && t->reasons && was != 0)
        return; /* the message says what is right here */
    if (t->results)
        snprintf(t->compared, sizeof t->compared, "%s",
                 was == 0    ? results[must].lost
                 : must == 0 ? results[was].unasked
                             : results[must].other);
    else if (says_value(message, left) && read_told_number(left, end, &got) &&
             read_told_number(right, right_end, &want))
        tell_numbers_apart(t->compared, sizeof t->compared, &got, &want);
}

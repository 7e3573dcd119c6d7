/* SPDX-License-Identifier: MIT
 * unit.h: in-process tests, many cases in one program.
 *
 *     UNIT(queue_is_sorted)
 *     {
 *         EXPECT(count == 3, "%d events are left", count);
 *     }
 *
 * Every case runs in a process of its own (a fork): what one leaves behind in file-scope variables,
 * and whatever it breaks, does not reach the next. As many run at a time as there are processors,
 * up to four. The program prints the failed ones by name; with names as arguments it runs those
 * only, with --list it lists them. EXPECT ends its case. A check that must be able to fail is tried
 * on something wrong: REJECTS.
 */
#ifndef TEST_UNIT_H
#define TEST_UNIT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define UNIT(name)                                                                                 \
    static void unit_##name(void);                                                                 \
    __attribute__((constructor)) static void add_##name(void)                                      \
    {                                                                                              \
        static struct unit unit = {#name, unit_##name, 0, 0, 0};                                   \
        unit_add(&unit);                                                                           \
    }                                                                                              \
    static void unit_##name(void)

struct unit {
    const char *name;
    void (*body)(void);
    struct unit *next;
    pid_t child; /* the process that runs it, or has */
    double began;
};

void unit_add(struct unit *unit);

#define EXPECT(condition, ...)                                                                     \
    do {                                                                                           \
        if (!(condition))                                                                          \
            unit_failed(__FILE__, __LINE__, #condition, __VA_ARGS__);                              \
    } while (0)
void unit_failed(const char *file, int line, const char *what, const char *format, ...)
    __attribute__((noreturn, format(printf, 4, 5)));

/* `check` says what is wrong with something that is: a NULL, nothing found, fails. */
#define REJECTS(check, what)                                                                       \
    do {                                                                                           \
        const char *found_ = (check);                                                              \
        EXPECT(found_ != 0, "the check does not reject %s", what);                                 \
    } while (0)

/* What a check found: kept in one place, until the next. */
const char *unit_says(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same numbers in every run, from `seed` on. */
void unit_seed(uint64_t seed);
uint64_t unit_dice(uint64_t below);

/* The folder of the checkout. */
#define UNIT_ROOT PEERLAB_ROOT

#endif

/* SPDX-License-Identifier: MIT
 * test_timed.c: from when to when a timed task lasts, by records that are written here; and which
 * records are no time at all.
 */
#include "../../harness/cases/timed.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static jmp_buf refused;
static char why[300];
static int failures;

void lab_fail(struct lab_test *t, const char *file, int line, const char *condition,
              const char *format, ...)
{
    va_list list;
    (void)t, (void)file, (void)line, (void)condition;
    va_start(list, format);
    vsnprintf(why, sizeof why, format, list);
    va_end(list);
    longjmp(refused, 1);
}

const struct lab_witness *lab_witness(const struct lab_run *run)
{
    return run->witness;
}

/* An honest run: GPU 0 has 100 bytes at 20, a copy is issued at 22, lasts from 25 to 40, and GPU 1
 * has stored them at 60. A copy at the beginning was over before. */
static struct lab_record record[] = {
    {.kind = LAB_COPY, .from = 0, .to = 1, .bytes = 8, .issue_ps = 1, .start_ps = 2, .end_ps = 3},
    {.kind = LAB_COPY, .from = LAB_SEALED, .to = 0, .bytes = 100, .start_ps = 5, .end_ps = 20},
    {.kind = LAB_MEMSET, .to = 1, .bytes = 100, .issue_ps = 6, .start_ps = 7, .end_ps = 90},
    {.kind = LAB_COPY,
     .from = 0,
     .to = 1,
     .bytes = 100,
     .issue_ps = 22,
     .start_ps = 25,
     .end_ps = 40},
    {.kind = LAB_COPY,
     .from = 1,
     .to = LAB_SEALED,
     .bytes = 100,
     .issue_ps = 45,
     .start_ps = 50,
     .end_ps = 60},
};
enum { EARLY, LOAD, FILL, WORK, STORE };

static struct lab_witness witness;
static uint64_t kernels, between; /* what the task needs */

/* The time of the records as they are now; 0: refused, `why` says it. */
static uint64_t timed(bool graph)
{
    static struct lab_test t;
    const struct lab_run run = {.witness = &witness};
    struct lab_moved moved = {.graph = graph, .kernels = kernels, .between = between};
    moved.loaded[0] = moved.stored[1] = 100;
    t.timed_ps = 0;
    if (setjmp(refused) == 0)
        lab_timed(&t, &run, &moved, 100, 1);
    return t.timed_ps;
}

static void expect(const char *what, uint64_t got, uint64_t want)
{
    if (got == want)
        return;
    failures++;
    fprintf(stderr, "%s: %d ps, expected %d (%s)\n", what, (int)got, (int)want, why);
}

static void begin(void)
{
    static struct lab_record honest[sizeof record / sizeof *record];
    static bool kept;
    memcpy(kept ? record : honest, kept ? honest : record, sizeof record);
    kept = true;
    witness = (struct lab_witness){
        .records = record, .record_count = sizeof record / sizeof *record, .processes = 1};
}

static void test_windows(void)
{
    begin();
    expect("from the load's end to the work's", timed(false), 20);
    record[WORK].issue_ps = 10;
    expect("work that is issued while numbers are loaded counts from there", timed(false), 30);
    record[EARLY].end_ps = 6;
    expect("and so does what was under way when loading began", timed(false), 39);
    begin();
    record[STORE].start_ps = 30;
    expect("what is stored early does not end it", timed(false), 20);
    record[FILL] = (struct lab_record){.kind = LAB_KERNEL, .issue_ps = 30, .end_ps = 77};
    expect("a kernel that goes on counts to its end", timed(false), 57);
}

static void test_refusals(void)
{
    begin();
    record[LOAD].to = 1;
    expect("numbers that are loaded to where they shall go", timed(false), 0);
    begin();
    record[LOAD].bytes = 99;
    expect("numbers that are not loaded", timed(false), 0);
    begin();
    record[EARLY].from = LAB_SEALED;
    expect("numbers that are loaded twice", timed(false), 0);
    begin();
    record[STORE].from = 0;
    expect("results from another GPU", timed(false), 0);
    begin();
    record[WORK].end_ps = 0;
    expect("work that had not ended", timed(false), 0);
    begin();
    witness.clocks_set_back = 1;
    expect("a clock that was set back", timed(true), 0);
    begin();
    witness.unpaid = 1;
    expect("a graph where there is none", timed(false), 0);
    expect("a graph", timed(true), 20);
    witness.processes = 2;
    expect("another process", timed(true), 0);
    begin();
    snprintf(witness.unsteady, sizeof witness.unsteady, "of a lock");
    expect("times that are the operating system's", timed(false), 0);
    begin();
    witness.record_count = WORK;
    expect("no work at all", timed(false), 0);
}

/* What a kernel hides is not in its record; what it pretends before the numbers are there is. */
static void test_charges(void)
{
    begin();
    between = 100;
    expect("all bytes go from one GPU to the other", timed(false), 20);
    record[WORK].bytes = 99;
    expect("a byte less", timed(false), 0);
    record[EARLY].bytes = 1 << 20;
    expect("before there was something to send", timed(false), 0);
    record[WORK] = (struct lab_record){
        .kind = LAB_KERNEL, .bytes = 200, .far_bytes = 100, .issue_ps = 22, .end_ps = 40};
    expect("a kernel reads them from there", timed(false), 20);
    kernels = 200;
    expect("and writes them", timed(false), 20);
    record[WORK].bytes = 199;
    expect("or one less", timed(false), 0);
    record[EARLY].kind = LAB_KERNEL;
    expect("before they were there", timed(false), 0);
    kernels = between = 0;
}

int main(void)
{
    test_windows();
    test_refusals();
    test_charges();
    return failures != 0;
}

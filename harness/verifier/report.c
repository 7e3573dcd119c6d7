/* SPDX-License-Identifier: MIT
 * report.c: the report for the user: what, why, where, next; never a wall of text.
 *
 * "not written yet" appears only when that is the verdict: ctest recognises it by this phrase and
 * shows it on the test's line. Text that a student's program can influence is sanitised by
 * lab__clean first.
 */
#include "verifier.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *lab__verdict_name(enum lab_verdict verdict)
{
    switch (verdict) {
    case LAB_PASS:
        return "pass";
    case LAB_FAIL:
        return "fail";
    case LAB_NOT_WRITTEN:
        return "not written";
    case LAB_CANNOT_RUN:
        return "cannot run";
    case LAB_HARNESS_ERROR:
        break;
    }
    return "harness error";
}

static const char *color_of(enum lab_verdict verdict)
{
    switch (verdict) {
    case LAB_PASS:
        return "\033[32m";
    case LAB_FAIL:
        return "\033[31m";
    case LAB_NOT_WRITTEN:
        return "\033[33m";
    case LAB_CANNOT_RUN:
        return "\033[36m";
    case LAB_HARNESS_ERROR:
        break;
    }
    return "\033[35m";
}

const char *lab__grave_name(const struct lab_test *t)
{
    static const char *const names[] = {[LAB_NOT_GRAVE] = "",
                                        [LAB_RACE] = "race",
                                        [LAB_LOST_DATA] = "lost data",
                                        [LAB_LEAK] = "leak",
                                        [LAB_HOST_WAIT] = "host wait"};
    return t->verdict == LAB_FAIL ? names[t->grave] : "";
}

/* Whether the case's rule is about what failed: its message has one of the words of `about`. */
static bool rule_fits(const struct lab_test *t)
{
    const char *about = t->info->about;
    if (!t->info->rule || t->promised)
        return false;
    if (!about)
        return !t->reasons && !t->results;
    for (size_t length; *about; about += length + (about[length] == '|')) {
        length = strcspn(about, "|");
        if (length > 0 && memmem(t->message.at, strlen(t->message.at), about, length))
            return true;
    }
    return false;
}

const char *lab__why(const struct lab_test *t)
{
    if (t->trapped)
        return "your other tasks are replaced by the course's only where a task builds on them: "
               "two tasks that call each other would both be right, and neither would have done "
               "the work";
    if (t->grave == LAB_LEAK)
        return "a call frees what it makes for itself before it returns; what it makes for the "
               "caller is freed by the call that ends it, and each kind of object has one call "
               "that frees it";
    if (t->grave == LAB_HOST_WAIT)
        return "it queues work and returns; cudaStreamWaitEvent makes a stream wait, and what "
               "has Synchronize in its name, cudaMalloc, cudaFree and a copy of pageable memory "
               "make the host wait";
    if (t->found.at[0] || t->found_line)
        return ""; /* it knows what went wrong; the rule of the case may be about another mistake */
    if (!t->judged)
        return "";
    if (rule_fits(t) && (t->results || !t->compared[0]))
        return t->info->rule;
    return t->compared;
}

void lab__next_step(const struct lab_test *t, char *text, size_t room)
{
    int todo = t->todo ? t->todo : t->info->todo;
    bool hint = todo > 0 && lab_about.number;
    text[0] = 0;
    if (t->verdict == LAB_NOT_WRITTEN && hint)
        snprintf(text, room, "read task %d in labs/%s/README.md; ./lab hint %s %d helps", todo,
                 lab_about.folder, lab_about.number, todo);
    else if (t->trapped && hint)
        snprintf(text, room,
                 "do that work in TODO(%d) itself; what two tasks share is a static function of "
                 "your own; ./lab hint %s %d",
                 todo, lab_about.number, todo);
    else if (t->verdict == LAB_FAIL && hint)
        snprintf(text, room, "./lab hint %s %d", lab_about.number, todo);
    else if (t->verdict == LAB_HARNESS_ERROR)
        snprintf(text, room, "this is not your fault: run ./lab selfcheck, and report it");
}

/* Prints one labelled paragraph; its further lines are indented. */
static void print_paragraph(const char *label, const char *text, const char *prefix)
{
    if (!text || !text[0])
        return;
    printf("  %-6s ", label);
    for (bool start = true; *text; text++) {
        if (start && prefix[0])
            fputs(prefix, stdout);
        putchar(*text);
        start = *text == '\n';
        if (start)
            printf("  %-6s ", "");
    }
    putchar('\n');
}

static void print_heading(const struct lab_test *t)
{
    bool color = t->options->color;
    printf("%s%s%s  %s", color ? color_of(t->verdict) : "", lab__verdict_name(t->verdict),
           color ? "\033[0m" : "", t->name);
    if (t->info->todo)
        printf("  TODO(%d)", t->info->todo);
    if (t->info->title)
        printf("  %s", t->info->title);
    putchar('\n');
}

static void print_details(const struct lab_test *t)
{
    char place[400] = "", next[300];
    if (t->verdict != LAB_NOT_WRITTEN && t->line)
        snprintf(place, sizeof place, "%s:%d", t->file, t->line);
    if (place[0] && t->todo)
        snprintf(place, sizeof place, "TODO(%d) at %s:%d", t->todo, t->file, t->line);
    lab__next_step(t, next, sizeof next);
    print_paragraph("what", t->message.at, "");
    if (t->verdict == LAB_FAIL || t->verdict == LAB_HARNESS_ERROR) {
        if (!strstr(t->said.at, t->explained.at)) /* the runtime may have printed it already */
            print_paragraph("node", t->explained.at, "");
        print_paragraph("found", t->found.at, "");
        print_paragraph("said", t->said.at, "| ");
    }
    print_paragraph("times", t->unsteady, "");
    print_paragraph("why", lab__why(t), "");
    print_paragraph("where", place, "");
    print_paragraph("next", next, "");
}

void lab__report(const struct lab_test *t, bool whole)
{
    print_heading(t);
    if (whole && t->verdict != LAB_PASS)
        print_details(t);
    else if (whole && t->timed)
        print_paragraph("times", t->unsteady, "");
    fflush(stdout);
}

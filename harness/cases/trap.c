/* SPDX-License-Identifier: MIT
 * trap.c: the verdict on an answer that called a function which it may not call in this test
 * (labcc.sh replaced that function by a trap).
 */
#include "run.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { NAME_MAX_BYTES = sizeof((struct lab_status *)0)->trapped };

/* Reads a C identifier from the page; "" if there is none. The page is not trusted. */
static void read_name(const struct lab_run *run, char name[NAME_MAX_BYTES])
{
    size_t n = 0;
    const char *text = run->status.trapped;
    while (n < NAME_MAX_BYTES - 1 && (isalnum((unsigned char)text[n]) || text[n] == '_')) {
        name[n] = text[n];
        n++;
    }
    name[n] = 0;
}

/* The functions of other TODOs that those of a TODO may call, as the end of a sentence. */
static void list_needs(int todo, char *text, size_t room)
{
    size_t used = 0;
    snprintf(text, room, "none");
    for (const struct lab_function *f = lab_about.needs; f && f->name && used < room; f++)
        if (f->todo == todo)
            used += (size_t)snprintf(text + used, room - used, "%s%s()", used ? ", " : "", f->name);
}

int lab__todo_of(const char *name)
{
    for (const struct lab_function *f = lab_about.functions; f && f->name; f++)
        if (strcmp(f->name, name) == 0)
            return f->todo;
    return 0;
}

void lab__judge_trapped(struct lab_test *t, const struct lab_run *run)
{
    char name[NAME_MAX_BYTES], allowed[500], whose[80];
    read_name(run, name);
    list_needs(t->info->todo, allowed, sizeof allowed);
    if (lab__todo_of(name) > 0)
        snprintf(whose, sizeof whose, "the answer to TODO(%d)", lab__todo_of(name));
    else
        snprintf(whose, sizeof whose, "which comes with the lab and does what other TODOs ask for");
    t->trapped = true;
    t->ending = "trap";
    lab__end(t, LAB_FAIL,
             "your TODO(%d) called %s(), %s. While TODO(%d) is tested, it may call of the lab's "
             "other tasks: %s",
             t->info->todo, name, whose, t->info->todo, allowed);
}

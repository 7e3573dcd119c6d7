/* SPDX-License-Identifier: MIT
 * record.c: one JSON object per test, complete as soon as the test is over.
 *
 * --json FILE is appended to by one write of one line, so that parallel tests may share a file;
 * --results FOLDER gets NAME.json, replaced atomically.
 */
#include "verifier.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void lab__json_string(FILE *to, const char *text)
{
    putc('"', to);
    for (const unsigned char *c = (const unsigned char *)(text ? text : ""); *c; c++) {
        if (*c == '"' || *c == '\\')
            fprintf(to, "\\%c", *c);
        else if (*c == '\n')
            fputs("\\n", to);
        else if (*c < 0x20)
            fprintf(to, "\\u%04x", *c);
        else
            putc(*c, to);
    }
    putc('"', to);
}

static void text_field(FILE *to, const char *name, const char *text)
{
    fprintf(to, ",\"%s\":", name);
    lab__json_string(to, text);
}

static void list_field(FILE *to, const struct lab_test *t)
{
    fputs(",\"nodes\":[", to);
    for (int i = 0; i < t->node_count; i++) {
        fputs(i ? "," : "", to);
        lab__json_string(to, t->nodes[i]);
    }
    putc(']', to);
}

/* Names the TODOs whose student versions the test failed with. */
static void todos_field(FILE *to, uint64_t todos)
{
    const char *comma = "";
    fputs(",\"builds_on\":[", to);
    for (int todo = 0; todo < 64; todo++)
        if (todos >> todo & 1) {
            fprintf(to, "%s%d", comma, todo);
            comma = ",";
        }
    putc(']', to);
}

static bool any_file(const char *name, size_t bytes)
{
    (void)name;
    return bytes > 0;
}

/* Whether a line only repeats the node's explanation, be it with other places in files. */
static bool repeats_explanation(const struct lab_test *t, const char *line, size_t length)
{
    char said[sizeof t->said.at], node[sizeof t->explained.at];
    snprintf(said, sizeof said, "%.*s", (int)length, line);
    snprintf(node, sizeof node, "%s", t->explained.at);
    lab__strip_ours(said, any_file);
    lab__strip_ours(node, any_file);
    return node[0] && strstr(said, node);
}

/* Leaves lines out that only repeat the node's explanation. */
static void said_field(FILE *to, const struct lab_test *t)
{
    char text[sizeof t->said.at];
    size_t used = 0;
    text[0] = 0;
    for (const char *line = t->said.at; *line;) {
        size_t length = strcspn(line, "\n"), whole = length + (line[length] == '\n');
        if (!repeats_explanation(t, line, length)) {
            memcpy(text + used, line, whole);
            used += whole;
            text[used] = 0;
        }
        line += whole;
    }
    text_field(to, "said", text);
}

/* The node's explanation of the mistake, the finding, and why times are not reliable. */
static void explained_field(FILE *to, const struct lab_test *t)
{
    const char *part[] = {t->explained.at, t->found.at, t->unsteady};
    char text[sizeof t->explained.at + sizeof t->found.at + sizeof t->unsteady + 2] = "";
    for (size_t i = 0, used = 0; i < sizeof part / sizeof *part; i++)
        if (part[i][0])
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", used ? "\n" : "",
                                     part[i]);
    text_field(to, "explained", text);
}

static void write_record(FILE *to, const struct lab_test *t)
{
    char where[400] = "", next[300];
    if (t->line)
        snprintf(where, sizeof where, "%s:%d", t->file, t->line);
    lab__next_step(t, next, sizeof next);
    fputs("{\"test\":", to);
    lab__json_string(to, t->name);
    text_field(to, "lab", lab_name);
    text_field(to, "case", t->info->name);
    fprintf(to, ",\"todo\":%d", t->info->todo);
    text_field(to, "title", t->info->title);
    fprintf(to, ",\"points\":%d,\"quick\":%s", t->info->points, t->info->quick ? "true" : "false");
    text_field(to, "verdict", lab__verdict_name(t->verdict));
    fprintf(to, ",\"status\":%d", t->verdict);
    text_field(to, "ending", t->ending);
    text_field(to, "grave", lab__grave_name(t));
    text_field(to, "message", t->message.at);
    text_field(to, "why", lab__why(t));
    text_field(to, "where", where);
    text_field(to, "next", next);
    explained_field(to, t);
    said_field(to, t);
    text_field(to, "check", t->check);
    list_field(to, t);
    fprintf(to,
            ",\"seed\":%" PRIu64 ",\"virtual_ps\":%" PRIu64 ",\"cpu_seconds\":%.3f"
            ",\"charged_seconds\":%.3f",
            t->options->seed, t->now_ps, t->cpu_seconds, t->charged_seconds);
    if (t->timed_ps)
        fprintf(to, ",\"timed_ps\":%" PRIu64 ",\"payload\":%" PRIu64, t->timed_ps, t->payload);
    if (t->builds_on)
        todos_field(to, t->builds_on);
    text_field(to, "runner", t->runner);
    fputs("}\n", to);
}

static int complain_of_file(const char *path)
{
    fprintf(stderr, "cannot write the record of the test to '%s': %s\n", path, strerror(errno));
    return -1;
}

static int write_once(const char *path, int flags, const char *line, size_t bytes)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0666);
    if (fd < 0)
        return complain_of_file(path);
    ssize_t n = write(fd, line, bytes);
    if (close(fd) != 0 || n != (ssize_t)bytes)
        return complain_of_file(path);
    return 0;
}

static int replace_file(const char *folder, const char *name, const char *line, size_t bytes)
{
    char path[4096], fresh[4200];
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return complain_of_file(folder);
    snprintf(path, sizeof path, "%s/%s.json", folder, name);
    snprintf(fresh, sizeof fresh, "%s.%d", path, (int)getpid());
    if (write_once(fresh, O_TRUNC, line, bytes) != 0)
        return -1;
    return rename(fresh, path) == 0 ? 0 : complain_of_file(path);
}

int lab__record(const struct lab_test *t)
{
    char *line = NULL;
    size_t bytes = 0;
    int rc = 0;
    if (!t->options->json && !t->options->results)
        return 0;
    FILE *to = open_memstream(&line, &bytes);
    if (!to)
        return complain_of_file("memory");
    write_record(to, t);
    if (fclose(to) != 0)
        rc = complain_of_file("memory");
    if (rc == 0 && t->options->json)
        rc = write_once(t->options->json, O_APPEND, line, bytes);
    if (rc == 0 && t->options->results)
        rc = replace_file(t->options->results, t->name, line, bytes);
    free(line);
    return rc;
}

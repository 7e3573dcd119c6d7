/* SPDX-License-Identifier: MIT
 * node_files.c: node descriptions, whole and with every line mutilated: a sound node, or a
 * sentence.
 */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "topology.h"
#include "unit.h"

enum { TEXT = 1 << 16 };

static const char nodes[] = UNIT_ROOT "/vgpu/nodes";
static struct topology topology;
static int file = -1;

static bool is_rate(double rate)
{
    return isfinite(rate) && rate > 0;
}

/* NULL: a route leads over links that are there, at a rate that is one. */
static const char *check_route(const struct topology *t, enum path path, int from, int to)
{
    struct route route = topology_route(t, path, from, to, 1 << 20);
    if (route.length < 0 || route.length > MAX_ROUTE || !is_rate(route.cap_bytes_s))
        return unit_says("path %d from %d to %d: %d links at %g bytes/s", (int)path, from, to,
                         route.length, route.cap_bytes_s);
    for (int k = 0; k < route.length; k++)
        if (route.resource[k] < 0 || route.resource[k] >= t->resource_count)
            return unit_says("path %d from %d to %d: link %d of %d", (int)path, from, to,
                             route.resource[k], t->resource_count);
    return NULL;
}

/* NULL: a program could run on it. */
static const char *check_node(const struct topology *t)
{
    int n = t->info.device_count;
    const char *wrong = NULL;
    if (n < 0 || n > VGPU_MAX_DEVICES || t->resource_count < 0 || t->resource_count > MAX_RESOURCES)
        return unit_says("%d GPUs, %d links", n, t->resource_count);
    for (int r = 0; r < t->resource_count; r++)
        if (!is_rate(t->rate_bytes_s[r]))
            return unit_says("link %d carries %g bytes/s", r, t->rate_bytes_s[r]);
    for (int from = 0; from < n && !wrong; from++) {
        wrong = check_route(t, PATH_D2H_PINNED, from, -1);
        wrong = wrong ? wrong : check_route(t, PATH_H2D_PINNED, -1, from);
        for (int to = 0; to < n && !wrong; to++)
            if (to != from)
                wrong = check_route(t, PATH_STAGED, from, to);
    }
    return wrong;
}

/* Loads `text`; NULL: it is a sound node, or refused with a sentence. *loaded: which. */
static const char *load_text(const char *text, size_t bytes, bool *loaded)
{
    char path[64], error[512] = "";
    if (ftruncate(file, 0) != 0 || pwrite(file, text, bytes, 0) != (ssize_t)bytes)
        return "the test cannot write";
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    *loaded = topology_load(&topology, nodes, path, error, sizeof error) == 0;
    if (!*loaded && strlen(error) < 12)
        return unit_says("refused with \"%s\"", error);
    return *loaded ? check_node(&topology) : NULL;
}

struct text {
    char *bytes;
    size_t count;
};

static struct text read_node(const char *name)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", nodes, name);
    FILE *in = fopen(path, "r");
    struct text text = {malloc(TEXT), 0};
    EXPECT(in && text.bytes, "no %s", path);
    text.count = fread(text.bytes, 1, TEXT, in);
    fclose(in);
    return text;
}

static bool is_node(const char *name)
{
    const char *end = strrchr(name, '.');
    return end && strcmp(end, ".json") == 0 && strcmp(name, "schema.json") != 0;
}

/* Calls `use` for every description there is. */
static void each_node(void (*use)(const char *name, struct text text))
{
    DIR *folder = opendir(nodes);
    int count = 0;
    EXPECT(folder, "no %s", nodes);
    file = memfd_create("node.json", MFD_CLOEXEC);
    for (struct dirent *e; (e = readdir(folder));)
        if (is_node(e->d_name)) {
            struct text text = read_node(e->d_name);
            use(e->d_name, text);
            free(text.bytes);
            count++;
        }
    closedir(folder);
    EXPECT(count > 10, "only %d descriptions", count);
}

static void load_whole(const char *name, struct text text)
{
    bool loaded;
    const char *wrong = load_text(text.bytes, text.count, &loaded);
    EXPECT(!wrong && loaded, "%s: %s", name, wrong ? wrong : "refused");
}

UNIT(every_node_is_sound)
{
    each_node(load_whole);
}

/* ---- mutilated ---- */

/* `text` with its bytes from `at` to `end` replaced. */
static struct text replaced(struct text text, size_t at, size_t end, const char *by)
{
    size_t more = strlen(by);
    struct text made = {malloc(text.count + more + 1), text.count - (end - at) + more};
    memcpy(made.bytes, text.bytes, at);
    memcpy(made.bytes + at, by, more);
    memcpy(made.bytes + at + more, text.bytes + end, text.count - end);
    return made;
}

static void try_replaced(const char *name, struct text text, size_t at, size_t end, const char *by)
{
    struct text made = replaced(text, at, end, by);
    bool loaded;
    const char *wrong = load_text(made.bytes, made.count, &loaded);
    EXPECT(!wrong, "%s with \"%.*s\" replaced by \"%s\": %s", name, (int)(end - at),
           text.bytes + at, by, wrong);
    free(made.bytes);
}

static size_t end_of_line(struct text text, size_t at)
{
    while (at < text.count && text.bytes[at++] != '\n')
        ;
    return at;
}

/* Without each line; of one node also with it twice, and cut behind it. */
static void mutilate_lines(const char *name, struct text text)
{
    bool wholly = strcmp(name, "hgx-h200-4.json") == 0;
    for (size_t at = 0, end; at < text.count; at = end) {
        char line[2000];
        end = end_of_line(text, at);
        try_replaced(name, text, at, end, "");
        if (!wholly)
            continue;
        snprintf(line, sizeof line, "%.*s", (int)(end - at), text.bytes + at);
        try_replaced(name, text, at, at, line);
        try_replaced(name, text, end, text.count, "");
    }
}

UNIT(nodes_without_a_line)
{
    each_node(mutilate_lines);
}

static bool is_value(char c)
{
    return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e';
}

/* Every number replaced by one that no GPU has; in one node by three of them in turn. */
static void mutilate_numbers(const char *name, struct text text)
{
    static const char *const others[] = {"-1",    "0",    "1e308", "1e-300", "4294967297",
                                         "\"x\"", "null", "[]",    "{}"};
    enum { OTHERS = sizeof others / sizeof *others };
    size_t number = 0, each = strcmp(name, "hgx-h200-4.json") == 0 ? 3 : 1;
    for (size_t at = 1, end; at < text.count; at = end) {
        char c = text.bytes[at], front = text.bytes[at - 1];
        end = at + 1;
        if (c < '0' || c > '9' || (front != ' ' && front != '['))
            continue;
        while (end < text.count && is_value(text.bytes[end]))
            end++;
        for (size_t i = 0; i < each; i++)
            try_replaced(name, text, at, end, others[(number + 3 * i) % OTHERS]);
        number++;
    }
}

UNIT(nodes_with_other_numbers)
{
    each_node(mutilate_numbers);
}

UNIT(an_unsound_node_is_rejected)
{
    char error[512];
    EXPECT(topology_load(&topology, nodes, "hgx-h200-4", error, sizeof error) == 0, "%s", error);
    topology.rate_bytes_s[0] = 0;
    REJECTS(check_node(&topology), "a link that carries nothing");
    topology.rate_bytes_s[0] = 1e9;
    topology.resource_count = 1;
    REJECTS(check_node(&topology), "a route over links that are not there");
}

/* SPDX-License-Identifier: MIT
 * dot.h: reads the part of Graphviz DOT that a table of GPUs needs, so that a test can judge what
 * was drawn and not how it was written: node statements, edges and chains of edges, attribute
 * lists, defaults for edges, subgraphs as boxes, quoted names, comments.
 */
#ifndef LAB02_DOT_H
#define LAB02_DOT_H

#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define DOT_GPUS 16
#define DOT_WORD 64
#define DOT_CHAIN 64

struct dot_graph {
    bool node[DOT_GPUS];
    int edges[DOT_GPUS][DOT_GPUS]; /* how often */
    char label[DOT_GPUS][DOT_GPUS][DOT_WORD];
    char error[256]; /* "" when it could be read */
};

enum dot_token { DOT_END = 0, DOT_NAME = 256, DOT_ARROW, DOT_PLAIN_LINE, DOT_BAD };

struct dot_reader {
    const char *at, *end;
    int line, token;
    char word[DOT_WORD];
    char edge_label[DOT_WORD]; /* edge [label=...] */
    struct dot_graph *graph;
};

struct dot_attributes {
    char label[DOT_WORD], dir[DOT_WORD];
};

/* Keeps the first complaint only. Always false, so that a reader can return it. */
__attribute__((format(printf, 2, 3))) static inline bool dot_bad(struct dot_reader *r,
                                                                 const char *format, ...)
{
    char what[200];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    if (r->graph->error[0] == '\0')
        snprintf(r->graph->error, sizeof r->graph->error, "line %d: %s", r->line, what);
    r->token = DOT_BAD;
    return false;
}

/* ---- tokens ---- */

static inline bool dot_starts(const struct dot_reader *r, const char *text)
{
    size_t n = strlen(text);
    return (size_t)(r->end - r->at) >= n && memcmp(r->at, text, n) == 0;
}

static inline void dot_skip_to(struct dot_reader *r, const char *text)
{
    while (r->at < r->end && !dot_starts(r, text)) {
        if (*r->at == '\n')
            r->line++;
        r->at++;
    }
}

static inline void dot_skip_space(struct dot_reader *r)
{
    for (;;) {
        while (r->at < r->end && isspace((unsigned char)*r->at)) {
            if (*r->at == '\n')
                r->line++;
            r->at++;
        }
        if (dot_starts(r, "//") || dot_starts(r, "#")) {
            dot_skip_to(r, "\n");
        } else if (dot_starts(r, "/*")) {
            dot_skip_to(r, "*/");
            r->at += dot_starts(r, "*/") ? 2 : 0;
        } else {
            return;
        }
    }
}

static inline void dot_quoted(struct dot_reader *r)
{
    size_t n = 0;
    for (r->at++; r->at < r->end && *r->at != '"'; r->at++) {
        if (*r->at == '\\' && r->at + 1 < r->end && r->at[1] == '"')
            r->at++;
        if (n < DOT_WORD - 1)
            r->word[n++] = *r->at;
    }
    r->word[n] = '\0';
    r->token = DOT_NAME;
    if (r->at < r->end)
        r->at++;
    else
        dot_bad(r, "a quotation mark is never closed");
}

static inline bool dot_in_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.' || (c & 0x80);
}

static inline void dot_next(struct dot_reader *r)
{
    size_t n = 0;
    if (r->token == DOT_BAD)
        return;
    dot_skip_space(r);
    if (r->at == r->end) {
        r->token = DOT_END;
    } else if (*r->at == '"') {
        dot_quoted(r);
    } else if (dot_starts(r, "->") || dot_starts(r, "--")) {
        r->token = r->at[1] == '>' ? DOT_ARROW : DOT_PLAIN_LINE;
        r->at += 2;
    } else if (dot_in_name(*r->at) || *r->at == '-') {
        do {
            if (n < DOT_WORD - 1)
                r->word[n++] = *r->at;
            r->at++;
        } while (r->at < r->end && dot_in_name(*r->at));
        r->word[n] = '\0';
        r->token = DOT_NAME;
    } else {
        r->token = (unsigned char)*r->at++;
    }
}

static inline bool dot_is(const struct dot_reader *r, const char *word)
{
    return r->token == DOT_NAME && strcasecmp(r->word, word) == 0;
}

/* ---- statements ---- */

/* [a=b, c="d"; ...], any number of lists, also none. */
static inline bool dot_attribute_lists(struct dot_reader *r, struct dot_attributes *a)
{
    char name[DOT_WORD];
    while (r->token == '[') {
        for (dot_next(r); r->token != ']'; dot_next(r)) {
            if (r->token == ',' || r->token == ';')
                continue;
            if (r->token != DOT_NAME)
                return dot_bad(r, "expected an attribute or ']'");
            memcpy(name, r->word, sizeof name);
            dot_next(r);
            if (r->token != '=')
                return dot_bad(r, "expected '=' after the attribute '%s'", name);
            dot_next(r);
            if (r->token != DOT_NAME)
                return dot_bad(r, "expected a value for the attribute '%s'", name);
            if (strcmp(name, "label") == 0)
                memcpy(a->label, r->word, sizeof a->label);
            if (strcmp(name, "dir") == 0)
                memcpy(a->dir, r->word, sizeof a->dir);
        }
        dot_next(r);
    }
    return r->token != DOT_BAD;
}

/* The GPU that a node's name stands for, or -1 after a complaint. */
static inline int dot_gpu(struct dot_reader *r, const char *word)
{
    char name[16];
    for (int gpu = 0; gpu < DOT_GPUS; gpu++) {
        snprintf(name, sizeof name, "gpu%d", gpu);
        if (strcmp(word, name) == 0)
            return gpu;
    }
    dot_bad(r, "the node '%s' is not one of gpu0, gpu1, ... gpu%d", word, DOT_GPUS - 1);
    return -1;
}

static inline void dot_add_edge(struct dot_graph *g, int from, int to, const char *label)
{
    g->edges[from][to]++;
    memcpy(g->label[from][to], label, DOT_WORD);
}

/* gpu0 -> gpu1 -> gpu2 [attributes], or a node alone. The first name was read. */
static inline bool dot_nodes(struct dot_reader *r, const char *first)
{
    struct dot_attributes a = {.dir = "forward"};
    int chain[DOT_CHAIN], n = 0;
    memcpy(a.label, r->edge_label, sizeof a.label);
    chain[n++] = dot_gpu(r, first);
    while (r->token == DOT_ARROW) {
        dot_next(r);
        if (r->token != DOT_NAME || n == DOT_CHAIN)
            return dot_bad(r, "expected the name of a node after '->'");
        chain[n++] = dot_gpu(r, r->word);
        dot_next(r);
    }
    if (r->token == DOT_PLAIN_LINE)
        return dot_bad(r, "'--' has no direction: peer access has one, write '->'");
    if (!dot_attribute_lists(r, &a))
        return false;
    for (int i = 0; i < n; i++)
        r->graph->node[chain[i]] = true;
    for (int i = 0; i + 1 < n; i++) {
        if (strcmp(a.dir, "back") != 0)
            dot_add_edge(r->graph, chain[i], chain[i + 1], a.label);
        if (strcmp(a.dir, "back") == 0 || strcmp(a.dir, "both") == 0)
            dot_add_edge(r->graph, chain[i + 1], chain[i], a.label);
    }
    return true;
}

/* A statement that begins with a name; the name is in r->word. */
static inline bool dot_named(struct dot_reader *r)
{
    struct dot_attributes a = {.dir = ""};
    char name[DOT_WORD];
    bool defaults = dot_is(r, "node") || dot_is(r, "graph") || dot_is(r, "edge");
    bool edges = dot_is(r, "edge");
    memcpy(name, r->word, sizeof name);
    dot_next(r);
    if (r->token == '=') { /* an attribute of the graph */
        dot_next(r);
        if (r->token != DOT_NAME)
            return dot_bad(r, "expected a value for '%s'", name);
        dot_next(r);
        return true;
    }
    if (!defaults)
        return dot_nodes(r, name);
    if (!dot_attribute_lists(r, &a))
        return false;
    if (edges)
        memcpy(r->edge_label, a.label, sizeof a.label);
    return true;
}

/* Everything between the braces; boxes (subgraphs) are opened and closed on the way. */
static inline bool dot_body(struct dot_reader *r)
{
    int depth = 1;
    while (depth > 0) {
        if (r->token == DOT_END)
            return dot_bad(r, "the text ends before the last '}'");
        if (r->token == DOT_BAD)
            return false;
        if (dot_is(r, "subgraph")) {
            dot_next(r);
            if (r->token == DOT_NAME)
                dot_next(r);
            if (r->token != '{')
                return dot_bad(r, "expected '{' after subgraph");
        }
        if (r->token == DOT_NAME) {
            if (!dot_named(r))
                return false;
            continue;
        }
        if (r->token != '{' && r->token != '}' && r->token != ';')
            return dot_bad(r, "expected a node, an edge or '}'");
        depth += r->token == '{' ? 1 : r->token == '}' ? -1 : 0;
        dot_next(r);
    }
    return r->token == DOT_END || dot_bad(r, "there is more text after the last '}'");
}

/* Reads one digraph. False: graph->error says what is wrong and in which line. */
static inline bool dot_read(const char *text, size_t bytes, struct dot_graph *graph)
{
    struct dot_reader r = {.at = text, .end = text + bytes, .line = 1, .graph = graph};
    memset(graph, 0, sizeof *graph);
    dot_next(&r);
    if (dot_is(&r, "strict"))
        dot_next(&r);
    if (dot_is(&r, "graph"))
        return dot_bad(&r, "a graph has no directions: peer access has, write 'digraph'");
    if (!dot_is(&r, "digraph"))
        return dot_bad(&r, "the text does not begin with 'digraph'");
    dot_next(&r);
    if (r.token == DOT_NAME)
        dot_next(&r);
    if (r.token != '{')
        return dot_bad(&r, "expected '{' after digraph and its name");
    dot_next(&r);
    return dot_body(&r);
}

#endif

/* SPDX-License-Identifier: MIT
 * dot_test.c: the reader with which lab 02 judges a drawing. Whatever `dot` would draw alike must
 * be read alike, and what it would draw otherwise must be refused with the line.
 */
#include "dot.h"

static int failures;

static void expect(bool good, const char *text, const char *what)
{
    if (good)
        return;
    failures++;
    fprintf(stderr, "%s, reading:\n%s\n", what, text);
}

/* Reads a text that must hold gpu0 -> gpu1 labelled "peer", gpu2 alone, and nothing else. */
static void reads(const char *text)
{
    static struct dot_graph g;
    int edges = 0;
    expect(dot_read(text, strlen(text), &g), text, g.error);
    for (int from = 0; from < DOT_GPUS; from++)
        for (int to = 0; to < DOT_GPUS; to++)
            edges += g.edges[from][to];
    expect(edges == 1 && g.edges[0][1] == 1, text, "expected the one edge gpu0 -> gpu1");
    expect(strcmp(g.label[0][1], "peer") == 0, text, "expected the label \"peer\"");
    expect(g.node[0] && g.node[1] && g.node[2] && !g.node[3], text, "expected three nodes");
}

static void refuses(const char *text, const char *because)
{
    static struct dot_graph g;
    bool read = dot_read(text, strlen(text), &g);
    expect(!read, text, "expected this to be refused");
    expect(read || strstr(g.error, because), text, g.error);
}

static void both_ways(const char *text)
{
    static struct dot_graph g;
    expect(dot_read(text, strlen(text), &g), text, g.error);
    expect(g.edges[0][1] == 1 && g.edges[1][0] == 1, text, "expected an edge each way");
}

int main(void)
{
    reads("digraph{gpu2 gpu0->gpu1[label=peer]}");
    reads("strict digraph \"a node\" {\n  rankdir=LR; node [shape=box, color=\"red\"];\n"
          "  gpu0 [label=\"GPU 0 \\\"first\\\"\"]; gpu1; gpu2;\n  gpu0 -> gpu1 "
          "[label=\"peer\"];\n}\n");
    reads("// made by hand\n# and by others\ndigraph g { /* boxes */ subgraph cluster_0 { "
          "label=\"x\";\n"
          "gpu0; gpu1 } subgraph { gpu2 }\n edge [label=peer, weight=-1.5] \"gpu0\" -> \"gpu1\" }");
    reads("digraph g { gpu1 -> gpu0 [dir=back][label=\"peer\"] gpu2 }");
    both_ways("digraph g { gpu0 -> gpu1 -> gpu0 }");
    both_ways("digraph g { gpu0 -> gpu1 [dir=both] }");

    refuses("", "does not begin with");
    refuses("graph g { gpu0 -- gpu1 }", "digraph");
    refuses("digraph g {\n gpu0 -- gpu1 }", "line 2: '--' has no direction");
    refuses("digraph g { gpu0 -> gpu1", "ends before");
    refuses("digraph g { gpu0 -> }", "after '->'");
    refuses("digraph g { GPU0 }", "'GPU0' is not one of");
    refuses("digraph g { gpu16 }", "'gpu16' is not one of");
    refuses("digraph g { gpu01 }", "'gpu01' is not one of");
    refuses("digraph g { gpu0 [label] }", "expected '='");
    refuses("digraph g { gpu0 [label=\"x }", "never closed");
    refuses("digraph g { gpu0 [", "attribute");
    refuses("digraph g { } digraph h { }", "more text");
    refuses("digraph g { gpu0 -> gpu1 -> gpu99 [label=peer] }", "'gpu99' is not one of");
    refuses("digraph g { /* never closed", "ends before");
    if (failures == 0)
        puts("dot: all texts were read or refused as they should be");
    return failures != 0;
}

/* SPDX-License-Identifier: MIT
 * environment.c: the environment of a runner: only those of our variables that it needs.
 */
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool passed_on(const char *variable)
{
    static const char *const names[] = {"PATH",         "HOME",           "LANG",
                                        "LC_ALL",       "TMPDIR",         "XDG_RUNTIME_DIR",
                                        "VGPU_HOME",    "VGPU_STRICT",    "VGPU_TRACE",
                                        "VGPU_CHECK",   "ASAN_OPTIONS",   "UBSAN_OPTIONS",
                                        "LSAN_OPTIONS", "LD_LIBRARY_PATH"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t n = strlen(names[i]);
        if (strncmp(variable, names[i], n) == 0 && variable[n] == '=')
            return true;
    }
    return !lab__node_virtual() && strncmp(variable, "CUDA_", 5) == 0;
}

static char *join_variable(struct lab_test *t, const char *name, const char *value)
{
    char *text;
    if (asprintf(&text, "%s=%s", name, value) < 0)
        lab__broken(t, ENOMEM, "building the runner's environment");
    return text;
}

static void drop_variable(char **env, int *count, const char *name)
{
    size_t n = strlen(name);
    for (int i = 0; i < *count; i++)
        if (strncmp(env[i], name, n) == 0 && env[i][n] == '=') {
            free(env[i]);
            env[i--] = env[--*count];
            env[*count] = NULL; /* so that lab__environment_free does not free the entry twice */
        }
}

/* The node's checks while a lab's test runs, unless the student has chosen: those that cost next to
 * nothing. Checks inside kernels triple the time of a large test, and advice is given only on
 * request. */
#define LAB_CHECKS "order,api,leaks,kernels"

static bool has_variable(char **env, const char *name)
{
    size_t n = strlen(name);
    for (int i = 0; env[i]; i++)
        if (strncmp(env[i], name, n) == 0 && env[i][n] == '=')
            return true;
    return false;
}

/* The caller frees it. */
char **lab__environment(struct lab_test *t, const struct lab_node *node)
{
    int given = 0, count = 0;
    while (environ[given])
        given++;
    char **env = calloc((size_t)given + LAB_ENV_MAX + 4, sizeof *env);
    if (!env)
        lab__broken(t, ENOMEM, "building the runner's environment");
    for (int i = 0; i < given; i++)
        if (passed_on(environ[i]))
            env[count++] = strdup(environ[i]);
    if (node) {
        env[count++] = join_variable(t, "VGPU_NODE_ID", lab__node_id(node));
        env[count++] = join_variable(t, "VGPU_NODE", t->node);
        if (!has_variable(env, "VGPU_CHECK"))
            env[count++] = join_variable(t, "VGPU_CHECK", LAB_CHECKS);
    }
    for (int i = 0; i < t->env_count; i++) {
        const char *name = t->env[i].name, *value = t->env[i].value;
        char visible[LAB_VISIBLE_MAX];
        if (value && strcmp(name, "CUDA_VISIBLE_DEVICES") == 0) {
            lab__visible(value, visible, sizeof visible);
            value = visible;
        }
        drop_variable(env, &count, name);
        if (value)
            env[count++] = join_variable(t, name, value);
    }
    return env;
}

void lab__hold_checks(struct lab_test *t, struct lab_node *node, char **env)
{
    const char *checks = NULL;
    char error[300] = "";
    for (int i = 0; env[i]; i++)
        if (strncmp(env[i], "VGPU_CHECK=", 11) == 0)
            checks = env[i] + 11;
    if (!lab__node_look_for(node, checks, error, sizeof error))
        lab__broken(t, 0, "the node was not told what to look for: %s", error);
}

void lab__environment_free(char **env)
{
    for (int i = 0; env[i]; i++)
        free(env[i]);
    free(env);
}

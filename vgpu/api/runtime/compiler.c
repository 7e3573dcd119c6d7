/* SPDX-License-Identifier: MIT
 * compiler.c: runs vgpu-cc while the program runs, in a folder of its own: for NVRTC and for PTX.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime.h"

extern char **environ;

bool vgpu__make_folder(char *folder, size_t room, const char *name)
{
    const char *below = getenv("TMPDIR");
    int length =
        snprintf(folder, room, "%s/vgpu-%s-XXXXXX", below && *below ? below : "/tmp", name);
    return length > 0 && (size_t)length < room && mkdtemp(folder);
}

void vgpu__remove_folder(const char *folder)
{
    char *words[] = {"rm", "-rf", "--", (char *)folder, NULL};
    pid_t child;
    if (posix_spawnp(&child, "rm", NULL, NULL, words, environ) == 0)
        waitpid(child, NULL, 0);
}

char *vgpu__read_file(const char *folder, const char *name, size_t *bytes)
{
    char path[PATH_MAX];
    struct stat is;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *in = fopen(path, "r");
    char *data = in && fstat(fileno(in), &is) == 0 ? calloc(1, (size_t)is.st_size + 1) : NULL;
    if (data)
        *bytes = fread(data, 1, (size_t)is.st_size, in);
    if (in)
        fclose(in);
    return data;
}

int vgpu__run_compiler(char **words, const char *log)
{
    char program[PATH_MAX];
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;
    if (!vgpu__find_program("vgpu-cc", program, sizeof program))
        return -1;
    words[0] = program;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    if (posix_spawn(&child, program, &actions, NULL, words, environ) == 0)
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
    posix_spawn_file_actions_destroy(&actions);
    return status;
}

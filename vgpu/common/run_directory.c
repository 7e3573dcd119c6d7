/* SPDX-License-Identifier: MIT
 * run_directory.c: see run_directory.h.
 */
#include "run_directory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int fail_with(char *error, size_t room, const char *what, const char *path, const char *why)
{
    snprintf(error, room, "%s '%s': %s", what, path, why);
    return -1;
}

int vgpu_run_dir(char *path, size_t room, char *error, size_t error_room)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    int length;
    if (runtime && runtime[0] == '/' && access(runtime, W_OK | X_OK) == 0)
        length = snprintf(path, room, "%s/vgpu", runtime);
    else
        length = snprintf(path, room, "/tmp/vgpu-%u", (unsigned)getuid());
    if (length < 0 || (size_t)length >= room)
        return fail_with(error, error_room, "the run directory's path is too long:", path,
                         "set XDG_RUNTIME_DIR to a shorter one");
    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return fail_with(error, error_room, "cannot make the run directory", path, strerror(errno));
    struct stat info;
    if (lstat(path, &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != getuid() ||
        (info.st_mode & 077) != 0)
        return fail_with(error, error_room, "the run directory", path,
                         "is not a directory of yours with mode 0700; remove it and try again");
    return 0;
}

int vgpu_socket_path(const char *id, char *path, size_t room, char *error, size_t error_room)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t length = strlen(id);
    if (length == 0 || length > 64 || strspn(id, allowed) != length || id[0] == '.')
        return fail_with(error, error_room, "bad node id", id,
                         "use 1 to 64 letters, digits, '.', '_' or '-', not starting with '.'");
    char directory[sizeof(((struct sockaddr_un *)0)->sun_path)];
    if (vgpu_run_dir(directory, sizeof directory, error, error_room) != 0)
        return -1;
    int written = snprintf(path, room, "%s/%s.sock", directory, id);
    size_t limit = sizeof(((struct sockaddr_un *)0)->sun_path);
    if (written < 0 || (size_t)written >= room || (size_t)written >= limit)
        return fail_with(error, error_room, "the socket's path is too long for node id", id,
                         "use a shorter VGPU_NODE_ID or XDG_RUNTIME_DIR");
    return 0;
}

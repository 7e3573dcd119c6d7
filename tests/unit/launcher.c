/* SPDX-License-Identifier: MIT
 * launcher.c: what stands before a context's program.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spawner.h"
#include "unit.h"

/* The status that the program ends with; -1: it was not started. */
static int status_of(const char *launcher)
{
    int socket = open("/dev/null", O_RDWR | O_CLOEXEC), status;
    if (launcher)
        setenv("VGPU_EXEC_LAUNCHER", launcher, 1);
    else
        unsetenv("VGPU_EXEC_LAUNCHER");
    spawner_set_program("/bin/true");
    pid_t pid = spawner_start(socket);
    int why = errno;
    close(socket);
    if (pid > 0)
        EXPECT(waitpid(pid, &status, 0) == pid, "no such child");
    errno = why;
    return pid > 0 ? WEXITSTATUS(status) : -1;
}

UNIT(words_before_a_context)
{
    EXPECT(status_of(NULL) == 0 && status_of("") == 0, "without");
    EXPECT(status_of("/usr/bin/env") == 0, "one word");
    EXPECT(status_of("/bin/sh\n-c\nexec false") == 1, "three words");
    EXPECT(status_of("\n/usr/bin/env\n\n") == 0, "empty lines are no words");
    EXPECT(status_of("\n") == 0, "no word");
    EXPECT(status_of("/usr/bin/env\na=1\nb=1\nc=1\nd=1\ne=1\nf=1\ng=1") == 0, "eight words");
    EXPECT(status_of("/usr/bin/env\na=1\nb=1\nc=1\nd=1\ne=1\nf=1\ng=1\nh=1") == -1,
           "nine words are not cut to eight");
    EXPECT(errno == E2BIG, "errno %d", errno);
}

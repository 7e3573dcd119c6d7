// SPDX-License-Identifier: MIT
// calibrate_messages.cu: how long a process that waits at a socket needs to hear what another one
// says, where each of them is at work meanwhile.
#include "calibrate.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>

static const int ROUNDS = 50, WORK_US = 20;
static int to_other = -1;
static pid_t other;

#if __has_include(<vgpu_time.h>)
static uint64_t now()
{
    return vgpu_time_tell();
}

static void heard(uint64_t then)
{
    vgpu_time_hear(then);
}

static void work() {}
#else
static uint64_t now()
{
    return 0;
}

static void heard(uint64_t) {}

static void work()
{
    for (double begin = host_us(); host_us() - begin < WORK_US;)
        ;
}
#endif

// False: the other process is gone.
static bool tell(int fd)
{
    uint64_t time = now();
    return send(fd, &time, sizeof time, MSG_NOSIGNAL) == sizeof time;
}

static bool hear(int fd)
{
    struct pollfd wait = {fd, POLLIN, 0};
    uint64_t time;
    if (poll(&wait, 1, -1) != 1 || recv(fd, &time, sizeof time, MSG_WAITALL) != sizeof time)
        return false;
    heard(time);
    return true;
}

static void answer(int fd)
{
    if (!hear(fd)) // the first one says that there is a GPU
        _exit(0);
    CHECK(cudaFree(nullptr));
    for (bool there = tell(fd); there;) {
        there = hear(fd);
        work();
        there = there && tell(fd);
    }
    _exit(0);
}

void prepare_messages()
{
    int ends[2];
    fflush(stdout);
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return;
    other = fork();
    if (other == 0) {
        close(ends[0]);
        answer(ends[1]);
    }
    close(ends[1]);
    to_other = other > 0 ? ends[0] : -1;
}

void measure_messages()
{
    if (to_other < 0 || !tell(to_other) || !hear(to_other))
        return;
    progress("messages between processes");
    figure("message.us", [] {
        return typical([] {
            double us = host_time([] {
                for (int i = 0; i < ROUNDS; i++) {
                    work();
                    if (!tell(to_other) || !hear(to_other))
                        exit(1);
                }
            });
            return us / ROUNDS / 2 - (VIRTUAL ? 0 : WORK_US);
        });
    });
    close(to_other);
    waitpid(other, nullptr, 0);
}

/* SPDX-License-Identifier: MIT
 * refused.c: a node that refuses a program and closes the connection before the program has said a
 * word: the program hears why.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cuda_runtime_api.h>

#include "expect.h"
#include "protocol.h"
#include "wire.h"

static const char why[] = "three programs are here, and there is no room for a fourth";

/* A connection that holds an answer and is closed at the other end. */
static void refuse(void)
{
    union {
        struct vgpu_reply r;
        unsigned char room[VGPU_MSG_MAX];
    } reply = {.r = {.error = cudaErrorInitializationError}};
    int pair[2];
    char text[16];
    EXPECT(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, pair) == 0);
    memcpy(reply.r.explain, why, sizeof why);
    EXPECT(vgpu_send(pair[0], &reply, sizeof reply.r, NULL, 0) == 0);
    close(pair[0]);
    snprintf(text, sizeof text, "%d", pair[1]);
    setenv("VGPU_NODE_FD", text, 1);
}

int main(void)
{
    int count, said[2];
    char text[4096] = "";
    unsetenv("VGPU_QUIET");
    refuse();
    EXPECT(pipe2(said, O_NONBLOCK) == 0);
    int own = dup(2);
    dup2(said[1], 2);
    cudaError_t error = cudaGetDeviceCount(&count);
    dup2(own, 2);
    EXPECT_IS(error, cudaErrorInsufficientDriver);
    EXPECT(read(said[0], text, sizeof text - 1) > 0);
    fputs(text, stderr);
    EXPECT(strstr(text, why) != NULL);
    EXPECT(strstr(text, "roken pipe") == NULL);
    return 0;
}

/* SPDX-License-Identifier: MIT
 * doors.c: a message between two processes through memory that both can write (door.h).
 */
#include "door.h"

#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

static struct vgpu_door *new_door(void)
{
    void *at =
        mmap(NULL, VGPU_DOOR_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

UNIT(door_takes_one_message_while_open)
{
    struct vgpu_door *door = new_door();
    char got[16] = "";
    EXPECT(!vgpu_door_put(door, "early", 6), "a door was open from the start");
    vgpu_door_open(door);
    EXPECT(vgpu_door_is_quiet(door), "it is not quiet");
    EXPECT(vgpu_door_put(door, "first", 6), "an open door takes nothing");
    EXPECT(!vgpu_door_put(door, "second", 7), "it took a second one");
    EXPECT(!vgpu_door_is_quiet(door), "it is quiet");
    EXPECT(vgpu_door_take(door, got, sizeof got, 0) == 6 && !strcmp(got, "first"), "%s", got);
    EXPECT(!vgpu_door_put(door, "third", 6), "it was open once more");
}

UNIT(door_closes_when_the_time_is_over)
{
    struct vgpu_door *door = new_door();
    char got[16];
    vgpu_door_open(door);
    EXPECT(vgpu_door_take(door, got, sizeof got, 1) == -1, "a message that nobody sent");
    EXPECT(!vgpu_door_put(door, "late", 5), "it is open, and nobody looks");
}

UNIT(door_says_when_a_message_goes_by_the_socket)
{
    struct vgpu_door *door = new_door();
    char got[16];
    vgpu_door_open(door);
    vgpu_door_knock(door);
    EXPECT(vgpu_door_take(door, got, sizeof got, 60000) == -1, "a message that nobody put there");
}

UNIT(door_is_looked_at_without_sleeping)
{
    struct vgpu_door *door = new_door();
    char got[16] = "";
    EXPECT(vgpu_door_look(door, got, sizeof got, false) == -1, "a message in a closed door");
    vgpu_door_watch(door);
    EXPECT(vgpu_door_is_watched(door) && vgpu_door_is_quiet(door), "it is not open");
    EXPECT(!vgpu_door_stare(door, 10), "a message that nobody sent");
    EXPECT(!vgpu_door_is_watched(door) && vgpu_door_is_quiet(door), "it is watched for ever");
    vgpu_door_watch(door);
    EXPECT(vgpu_door_put(door, "first", 6), "an open door takes nothing");
    EXPECT(vgpu_door_stare(door, 10), "the message is not seen");
    EXPECT(vgpu_door_look(door, got, sizeof got, false) == 6 && !strcmp(got, "first"), "%s", got);
    EXPECT(vgpu_door_look(door, got, sizeof got, false) == -1, "it lies there twice");
    vgpu_door_open(door);
    EXPECT(vgpu_door_look(door, got, sizeof got, false) == -1, "a message that nobody sent");
    EXPECT(vgpu_door_is_quiet(door), "a look closes the door");
    EXPECT(vgpu_door_look(door, got, sizeof got, true) == -1, "a message that nobody sent");
    EXPECT(!vgpu_door_put(door, "late", 5), "the last look leaves it open");
    vgpu_door_open(door);
    vgpu_door_put(door, "last", 5);
    EXPECT(vgpu_door_look(door, got, sizeof got, true) == 5 && !strcmp(got, "last"), "%s", got);
    vgpu_door_watch(door);
    vgpu_door_knock(door);
    EXPECT(vgpu_door_stare(door, 60000000), "it waits for a message of the socket");
}

enum { MESSAGES = 20000 };

/* Sends back what comes, which must be 0, 1, 2, ... Returns the exit status of its process. */
static int send_back(struct vgpu_door *there, struct vgpu_door *back)
{
    for (int i = 0, n = -1; i < MESSAGES; i++) {
        if (vgpu_door_take(there, &n, sizeof n, 20000) != sizeof n || n != i)
            return 1;
        vgpu_door_open(there);
        if (!vgpu_door_put(back, &n, sizeof n))
            return 2;
    }
    return 0;
}

/* Most messages find the receiver asleep. */
UNIT(door_wakes_the_receiver)
{
    struct vgpu_door *there = new_door(), *back = new_door();
    int n = -1, status = -1;
    vgpu_door_open(there);
    pid_t child = fork();
    if (child == 0)
        _exit(send_back(there, back));
    for (int i = 0; i < MESSAGES && n == i - 1; i++) {
        vgpu_door_open(back);
        if (!vgpu_door_put(there, &i, sizeof i) ||
            vgpu_door_take(back, &n, sizeof n, 20000) != sizeof n)
            break;
    }
    waitpid(child, &status, 0);
    EXPECT(n == MESSAGES - 1 && status == 0, "message %d was the last, %#x", n, (unsigned)status);
}

/* What a hostile process can write: no size beyond the room is believed, and waiting ends. */
UNIT(door_believes_nothing)
{
    struct vgpu_door *door = new_door();
    char got[VGPU_MSG_MAX];
    atomic_store(&door->bytes, ~0u);
    atomic_store(&door->state, VGPU_DOOR_FULL);
    EXPECT(vgpu_door_take(door, got, 16, 0) == VGPU_MSG_MAX, "a size beyond the door's");
    atomic_store(&door->state, 12345u);
    EXPECT(vgpu_door_take(door, got, sizeof got, 60000) == -1, "a state that no door has");
    EXPECT(!vgpu_door_put(door, got, sizeof got + 1), "a message larger than the door");
    pid_t child = fork();
    while (child == 0) { /* open, asleep, open, asleep, without a message */
        atomic_store(&door->state, VGPU_DOOR_OPEN);
        atomic_store(&door->state, VGPU_DOOR_SLEEPS);
    }
    for (int i = 0; i < 20; i++)
        vgpu_door_take(door, got, sizeof got, 1);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* SPDX-License-Identifier: MIT
 * sealed.c: numbers that the GPUs get and give while the program around them sees none: the node
 * has them copied (VGPU_OP_SEAL). What the host does not know it cannot compute either.
 *
 * On real GPUs, where nobody is graded, the runner maps the same memory.
 */
#include "process.h"
#include "run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, POISON = 0xA5 };

void lab_seal(struct lab_test *t, const void *input, size_t input_bytes, size_t output_bytes)
{
    struct lab_sealed *s = &t->sealed;
    void *at = NULL;
    lab__unseal(s);
    s->input_bytes = (input_bytes + PAGE - 1) / PAGE * PAGE;
    s->bytes = s->input_bytes + (output_bytes ? output_bytes : 1);
    s->fd = lab__memory_shared(s->bytes, &at);
    if (s->fd < 0)
        lab__broken(t, 0, "cannot make a memory file of %zu bytes for the GPUs' numbers", s->bytes);
    s->at = at;
    if (input_bytes > 0)
        memcpy(s->at, input, input_bytes);
    memset(s->at + s->input_bytes, POISON, s->bytes - s->input_bytes);
}

void lab__unseal(struct lab_sealed *s)
{
    if (!s->at)
        return;
    munmap(s->at, s->bytes);
    close(s->fd);
    *s = (struct lab_sealed){0};
}

/* What the GPUs gave; the run is over, and nobody writes there any more. */
void lab__open_sealed(struct lab_test *t, struct lab_run *run)
{
    struct lab_sealed *s = &t->sealed;
    if (!s->at)
        return;
    size_t bytes = s->bytes - s->input_bytes;
    run->sealed = malloc(bytes);
    if (!run->sealed)
        lab__broken(t, 0, "no memory for %zu bytes of what the GPUs gave", bytes);
    memcpy(run->sealed, s->at + s->input_bytes, bytes);
    lab__unseal(s);
}

const void *lab_sealed_output(const struct lab_run *run)
{
    return run->sealed;
}

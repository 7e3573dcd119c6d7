/* SPDX-License-Identifier: MIT
 * sealed.c: input and output of GPUs that the program around them cannot read: the node performs
 * the copies (VGPU_OP_SEAL). The host cannot compute results from numbers it does not have.
 *
 * On real GPUs, where nothing is graded, the runner maps the same memory.
 */
#include "process.h"
#include "run.h"

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
    s->at = at;
    if (s->fd < 0)
        return; /* lab_run reports the error */
    if (input_bytes > 0)
        memcpy(s->at, input, input_bytes);
    memset(s->at + s->input_bytes, POISON, s->bytes - s->input_bytes);
}

void lab__unseal(struct lab_sealed *s)
{
    if (s->at) {
        munmap(s->at, s->bytes);
        close(s->fd);
    }
    *s = (struct lab_sealed){0};
}

/* The run and its node have ended, so there is no writer left; the run owns the memory from here
 * on. */
void lab__open_sealed(struct lab_test *t, struct lab_run *run)
{
    run->sealed = t->sealed;
    t->sealed = (struct lab_sealed){0};
}

const void *lab_sealed_output(const struct lab_run *run)
{
    return run->sealed.at ? run->sealed.at + run->sealed.input_bytes : NULL;
}

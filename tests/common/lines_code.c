/* SPDX-License-Identifier: MIT
 * lines_code.c: functions whose lines test_lines.c asks for. #line gives each the file that the
 * debug information then names.
 */
int theirs_in_vector(int x);
int theirs_calls_ours(int x);

/* As host_defines.h has it, for headers that lie in /opt/course/include. */
__asm__(".pushsection .vgpu.headers, \"MS\", %progbits, 1\n"
        ".asciz \"/opt/course/include/host_defines.h\"\n"
        ".popsection");

static volatile int hidden;

/* A learner's file may have any name. */
#line 7 "/home/learner/vector_add.cu"
int theirs_in_vector(int x)
{
    return hidden * x;
}

/* One of ours may have any name too: the line is that of the call. */
#line 4 "/opt/course/include/vgpu/anything.h"
static inline __attribute__((always_inline)) int ours(int x)
{
    hidden = x;
    return hidden + 1;
}

#line 20 "/home/learner/vgpu_solution.cu"
int theirs_calls_ours(int x)
{
    return ours(x);
}

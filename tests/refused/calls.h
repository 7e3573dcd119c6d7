/* SPDX-License-Identifier: MIT
 * calls.h: what the wrappers that refused.py generates are made of; see calls.c.
 */
#ifndef REFUSED_CALLS_H
#define REFUSED_CALLS_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A call of one of the lab's functions, not from within another one. */
struct refused_call {
    const char *function;
    int device, error; /* current device and last error before it */
    bool hit;          /* a call of CUDA has failed in it */
    bool again;        /* it is made the second time, after it failed */
};

bool refused_enter(struct refused_call *call, const char *function);
/* True: a call of CUDA failed in the function, and so did the function. */
bool refused_leave(struct refused_call *call, int result);
/* True: it is to be called once more. */
bool refused_again(struct refused_call *call);
/* False: there is nothing to read. */
bool refused_keep(void *to, const void *from, size_t bytes);
void refused_compare(const struct refused_call *call, const char *parameter, const void *was,
                     const void *is, size_t bytes);

bool refused_fails(const char *name, const void *from);
long refused_error(const char *name);

/* A call of CUDA with whatever arguments, none of them a floating-point number: what lies in six
 * registers and the first ten words of the stack is handed on (an IPC handle is eight). `does`: the
 * call does its work and then reports an error, as calls that free something do. */
#define REFUSED_TAKES                                                                              \
    long a, long b, long c, long d, long e, long f, long g, long h, long i, long j, long k,        \
        long l, long m, long n, long o, long p
#define REFUSED_CALL(name, does)                                                                   \
    long __real_##name(REFUSED_TAKES);                                                             \
    long __wrap_##name(REFUSED_TAKES);                                                             \
    long __wrap_##name(REFUSED_TAKES)                                                              \
    {                                                                                              \
        bool fails = refused_fails(#name, __builtin_return_address(0));                            \
        if (!fails)                                                                                \
            return __real_##name(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);                  \
        if (does)                                                                                  \
            __real_##name(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);                         \
        return refused_error(#name);                                                               \
    }

#endif

/* SPDX-License-Identifier: MIT
 * context.c: the state that every room reads (exec.h).
 */
#include "exec.h"

struct now now;
struct context context;

/* SPDX-License-Identifier: MIT
 * register_observers.c: the one list of who hears of calls. Registered before main, with the
 * constructors that make __managed__ variables.
 */
#include "checks.h"

#include "page_swap.h"
#include "thread_clocks.h"

extern const char vgpu__observers __attribute__((visibility("hidden")));
const char vgpu__observers = 1; /* work.h */

__attribute__((constructor(101))) static void register_observers(void)
{
    vgpu__observe(&vgpu__unchecked_errors);
    vgpu__observe(&vgpu__open_descriptors);
    vgpu__observe(&vgpu__guard);
    vgpu__observe(&vgpu__page_swap);
    vgpu__thread_clocks();
}

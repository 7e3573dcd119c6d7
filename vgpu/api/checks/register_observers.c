/* SPDX-License-Identifier: MIT
 * register_observers.c: the list of all observers of calls. They are registered before main,
 * together with the constructors that make __managed__ variables.
 */
#include "checks.h"

#include "page_swap.h"
#include "thread_clocks.h"

extern const char vgpu__observers __attribute__((visibility("hidden")));
const char vgpu__observers = 1; /* see work.h */

__attribute__((constructor(101))) static void register_observers(void)
{
    vgpu__observe(&vgpu__unchecked_errors);
    vgpu__observe(&vgpu__open_descriptors);
    vgpu__observe(&vgpu__guard);
    vgpu__observe(&vgpu__page_swap);
    vgpu__thread_clocks();
}

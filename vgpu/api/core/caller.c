/* SPDX-License-Identifier: MIT
 * caller.c: finds the return address of the CUDA call that the program made; see core.h.
 * CMakeLists.txt places the runtime's code in the section vgpu_text and compiles it with frame
 * pointers, so the walk stops at the first return address outside the section and follows no frame
 * of the program.
 */
#include "core.h"

enum { DEPTH = 32 };

extern const char __start_vgpu_text[] __attribute__((weak, visibility("hidden")));
extern const char __stop_vgpu_text[] __attribute__((weak, visibility("hidden")));

static bool is_runtime_code(const void *code)
{
    return (uintptr_t)code >= (uintptr_t)__start_vgpu_text &&
           (uintptr_t)code < (uintptr_t)__stop_vgpu_text;
}

uint64_t vgpu__caller(void)
{
    void *const *frame = __builtin_frame_address(0);
    if (vgpu__self.launched_at)
        return vgpu__self.launched_at;
    for (int i = 0; i < DEPTH; i++, frame = frame[0]) {
        if (!is_runtime_code(frame[1]))
            return i > 0 ? (uint64_t)(uintptr_t)frame[1] : 0;
    }
    return 0;
}

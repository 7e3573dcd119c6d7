/* SPDX-License-Identifier: MIT
 * sealed.c: see sealed.h.
 */
#include "sealed.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "protocol.h"
#include "memory_state.h"

static bool refuse_sealed(const char **why, const char *what)
{
    *why = what;
    return false;
}

bool sealed_take(int fd, uint64_t readable, const char **why)
{
    int seals = fd < 0 ? -1 : fcntl(fd, F_GET_SEALS);
    if (memory_current->sealed.base)
        return refuse_sealed(why, "this node has sealed memory already");
    if (seals < 0 || !(seals & F_SEAL_SHRINK))
        return refuse_sealed(why, "sealed memory is a memory file that cannot shrink");
    /* A jail refuses the C library's fstat, which uses a path. */
    off_t bytes = lseek(fd, 0, SEEK_END);
    if (bytes <= 0 || (uint64_t)bytes > VGPU_SEALED_BYTES || readable > (uint64_t)bytes)
        return refuse_sealed(why,
                             "sealed memory has 1 byte to 4 GiB, and what is read is a part of it");
    void *at = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return refuse_sealed(why, "sealed memory cannot be mapped for reading and writing");
    memory_current->sealed.base = at;
    memory_current->sealed.bytes = (uint64_t)bytes;
    memory_current->sealed.readable_bytes = readable;
    return true;
}

bool sealed_is(uint64_t address)
{
    return address >= VGPU_SEALED_VA && address < VGPU_HOST_END;
}

uint64_t sealed_reach(uint64_t address, bool reads)
{
    uint64_t at = address - VGPU_SEALED_VA,
             end = reads ? memory_current->sealed.readable_bytes : memory_current->sealed.bytes;
    bool there =
        sealed_is(address) && at < end && (reads || at >= memory_current->sealed.readable_bytes);
    return there ? end - at : 0;
}

uint8_t *sealed_view(uint64_t address, uint64_t bytes)
{
    uint64_t at = address - VGPU_SEALED_VA;
    return sealed_is(address) && at < memory_current->sealed.bytes &&
                   bytes <= memory_current->sealed.bytes - at
               ? memory_current->sealed.base + at
               : NULL;
}

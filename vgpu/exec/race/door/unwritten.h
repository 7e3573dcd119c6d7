/* SPDX-License-Identifier: MIT
 * unwritten.h: kernels that read memory that was never written.
 *
 * Fresh memory is poisoned, so unwritten memory is recognised by its value: a read is suspect if
 * all its bytes are poison (for bytes and halfwords: all bytes of the word around them). It is a
 * finding if this context saw no kernel store to them. Copying poison from memory to memory is no
 * finding, but does not initialise the destination: reading that is a finding. So is a read that is
 * not ordered after the write, since the node then shows it the previous contents.
 */
#ifndef VGPU_UNWRITTEN_H
#define VGPU_UNWRITTEN_H

#include "exec.h"

#include <string.h>

static inline bool unwritten_word(uint64_t address)
{
    uint32_t word;
    memcpy(&word, (const void *)address, sizeof word); /* NOLINT */
    return word == 0x01010101u * VGPU_POISON;
}

/* Whether all bytes are poison. */
static inline bool unwritten_suspect(uint64_t address, uint64_t bytes)
{
    return UNLIKELY(unwritten_word(address & ~3ull)) &&
           (bytes <= 4 || unwritten_word(address + bytes - 4));
}

/* Checks a suspect load: reports it if no store has written the bytes. */
void unwritten_read(uint64_t address, uint64_t bytes, uint64_t pc);

#endif

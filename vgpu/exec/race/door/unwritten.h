/* SPDX-License-Identifier: MIT
 * unwritten.h: kernels that read memory that was never written.
 *
 * Fresh memory is poisoned, so what nobody wrote is known by its value: an access all of whose
 * bytes are poison (for bytes and halfwords: all of the word around them) is suspect. It is a
 * finding where this context saw no kernel store there. Copying such bytes with a copy is fine, and
 * makes them no better: whoever reads the copy is told. So is one whose reading nothing orders
 * after the writing, as the node shows it what was there before.
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

/* All of it is poison. */
static inline bool unwritten_suspect(uint64_t address, uint64_t bytes)
{
    return UNLIKELY(unwritten_word(address & ~3ull)) &&
           (bytes <= 4 || unwritten_word(address + bytes - 4));
}

/* A suspect load: tells it if it is one that nobody wrote. */
void unwritten_read(uint64_t address, uint64_t bytes, uint64_t pc);

#endif

/* SPDX-License-Identifier: MIT
 * divide.c: emulates an integer division on which x86 traps; see divide.h.
 *
 * arm64 does not trap on divisions at all (by zero gives 0).
 */
#include "divide.h"

#include <stdint.h>

#if defined(__x86_64__)

/* An encoded division: [66] [REX] F6|F7 modrm [SIB] [displacement]. */
struct division {
    unsigned bits;  /* of the divisor */
    unsigned bytes; /* of the instruction */
    bool is_signed;
    int divisor; /* register of the divisor; -1: it is in memory */
};

static unsigned address_bytes(const uint8_t *modrm)
{
    unsigned mod = modrm[0] >> 6, rm = modrm[0] & 7;
    unsigned sib = mod != 3 && rm == 4;
    bool no_base = mod == 0 && (rm == 5 || (sib && (modrm[1] & 7) == 5));
    if (no_base || mod == 2)
        return sib + 4;
    return sib + (mod == 1);
}

static bool decode_division(const uint8_t *code, struct division *d)
{
    const uint8_t *at = code;
    bool half = false;
    uint8_t rex = 0;
    for (; *at == 0x66; at++)
        half = true;
    if ((*at & 0xf0) == 0x40)
        rex = *at++;
    if (*at != 0xf6 && *at != 0xf7)
        return false;
    d->bits = *at == 0xf6 ? 8 : rex & 8 ? 64 : half ? 16 : 32;
    const uint8_t *modrm = at + 1;
    unsigned kind = *modrm >> 3 & 7;
    d->is_signed = kind == 7;
    d->bytes = (unsigned)(modrm + 1 - code) + address_bytes(modrm);
    d->divisor = *modrm >> 6 == 3 ? (*modrm & 7) | (rex & 1) << 3 : -1;
    return (kind == 6 || kind == 7) && d->bits != 8; /* compilers do not divide bytes */
}

static const int register_of[16] = {REG_RAX, REG_RCX, REG_RDX, REG_RBX, REG_RSP, REG_RBP,
                                    REG_RSI, REG_RDI, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                    REG_R12, REG_R13, REG_R14, REG_R15};

/* Writing 32 bits of a register clears the upper half; writing 16 keeps the rest. */
static uint64_t merge_register(uint64_t old, uint64_t value, unsigned bits)
{
    if (bits == 64)
        return value;
    if (bits == 32)
        return (uint32_t)value;
    return (old & ~0xffffull) | (value & 0xffff);
}

bool divide_step(ucontext_t *machine, bool *by_zero)
{
    greg_t *regs = machine->uc_mcontext.gregs;
    struct division d;
    if (!decode_division((const uint8_t *)regs[REG_RIP], &d)) /* NOLINT */
        return false;
    uint64_t mask = d.bits == 64 ? ~0ull : (1ull << d.bits) - 1, lowest = 1ull << (d.bits - 1);
    uint64_t low = (uint64_t)regs[REG_RAX] & mask;
    uint64_t divisor =
        d.divisor < 0 ? mask : (uint64_t)regs[register_of[d.divisor]] & mask; /* or unknown */
    *by_zero = !(d.is_signed && low == lowest && divisor == mask);
    uint64_t quotient = *by_zero ? mask : lowest, remainder = *by_zero ? low : 0;
    regs[REG_RAX] = (greg_t)merge_register((uint64_t)regs[REG_RAX], quotient, d.bits);
    regs[REG_RDX] = (greg_t)merge_register((uint64_t)regs[REG_RDX], remainder, d.bits);
    regs[REG_RIP] += d.bytes;
    return true;
}

#else

bool divide_step(ucontext_t *machine, bool *by_zero)
{
    (void)machine;
    *by_zero = false;
    return false;
}

#endif

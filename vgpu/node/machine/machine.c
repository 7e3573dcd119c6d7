/* SPDX-License-Identifier: MIT
 * machine.c: see machine.h.
 */
#include "machine.h"

const struct topology *machine;

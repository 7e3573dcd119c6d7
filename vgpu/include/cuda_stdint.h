/* SPDX-License-Identifier: MIT
 * cuda_stdint.h: the integers of <stdint.h>.
 */
#ifndef __cuda_stdint_h__
#define __cuda_stdint_h__

#include <stdint.h>

#endif

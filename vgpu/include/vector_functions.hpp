/* SPDX-License-Identifier: MIT
 * vector_functions.hpp: vector_functions.h, which has the bodies, too.
 */
#ifndef __VECTOR_FUNCTIONS_HPP__
#define __VECTOR_FUNCTIONS_HPP__

#include "vector_functions.h"

#endif

// SPDX-License-Identifier: MIT
#include "caller.cpp"

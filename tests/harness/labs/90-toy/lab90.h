/* SPDX-License-Identifier: MIT */
#include "../../solutions/90-toy/lab90.h"

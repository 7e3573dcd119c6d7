// SPDX-License-Identifier: MIT
// Accesses in address spaces would not be reported.
typedef int __attribute__((address_space(257))) far;
typedef int __attribute__((address_space(1))) near;

__global__ void unseen(int *p, near *q)
{
    *p = *(far *)100; //!10 __attribute__((address_space)) is not modelled in device code
    *q = *p;          //!8 __attribute__((address_space)) is not modelled in device code
}

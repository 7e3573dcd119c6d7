// SPDX-License-Identifier: MIT
// There is no heap in device code. What Clang's <new> calls is told at the program's line.
#include <string>

__global__ void k(int **out)
{
    out[0] = new int[8]; //!14 malloc or new is called in device code
    delete[] out[0];      //!5 free or delete is called in device code
}

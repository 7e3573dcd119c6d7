// SPDX-License-Identifier: MIT
// A host variable in device code. Each marked line has the error, and nothing else has one.
#include <cstdlib>

int changed = 1;
static int never_changed = 2;
static float many[4];
namespace deep {
int inside = 3;
}
struct s {
    static int member;
};
int s::member = 4;
extern int elsewhere;
const int run_time = std::rand();
const int known = 5; // may be used
const float not_folded[] = {1, 2, 3};

__device__ int helper()
{
    return deep::inside; //!18 host variable 'deep::inside' is used in device code; pass it as a kernel argument or declare it __device__ or __constant__
}

__global__ void k(int *out)
{
    out[0] = changed;       //!14 host variable 'changed' is used in device code
    out[1] = never_changed; //!14 host variable 'never_changed' is used in device code
    out[2] = (int)many[2];  //!19 host variable 'many' is used in device code
    out[3] = helper();
    out[4] = s::member;  //!17 host variable 's::member' is used in device code
    out[5] = elsewhere;  //!14 host variable 'elsewhere' is used in device code
    out[6] = run_time;   //!14 host variable 'run_time' is used in device code
    out[7] = known;
    out[8] = (int)not_folded[threadIdx.x]; //!19 host constant 'not_folded' is read from memory in device code
}

int main()
{
    changed++;
    k<<<1, 1>>>(nullptr);
}

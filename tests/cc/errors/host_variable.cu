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
const float table[] = {1, 2, 3};

__device__ int helper()
{
    return deep::inside; //!18 reference to __host__ variable 'inside' in __device__ function
}

__global__ void k(int *out)
{
    out[0] = changed; //!14 reference to __host__ variable 'changed' in __global__ function
    out[1] = never_changed; //!14 reference to __host__ variable 'never_changed' in __global__ function
    out[2] = (int)many[2]; //!19 reference to __host__ variable 'many' in __global__ function
    out[3] = helper();
    out[4] = s::member; //!17 reference to __host__ variable 'member' in __global__ function
    out[5] = elsewhere; //!14 reference to __host__ variable 'elsewhere' in __global__ function
    out[6] = run_time; //!14 reference to __host__ variable 'run_time' in __global__ function
    out[7] = known;
}

int main()
{
    changed++;
    k<<<1, 1>>>(nullptr);
}

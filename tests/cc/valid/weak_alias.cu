// An engine that a program may give, or else the file's own: a weak alias of a host's variable. A
// special register named without doubling the percent sign; a variable of storage class register.
// prints: 7
// prints: later
#include <cstdio>

struct engine {
    int (*run)(int);
};
extern struct engine the_engine;
static int ask()
{
    return the_engine.run(6);
}

__global__ void two_times(unsigned long long *at)
{
    for (register int i = 0; i < 2; i++)
        asm volatile("mov.u64 %0, %globaltimer;" : "=l"(at[i]));
}

int main()
{
    unsigned long long *at, time[2];
    printf("%d\n", ask());
    cudaMalloc(&at, sizeof time);
    two_times<<<1, 1>>>(at);
    cudaMemcpy(time, at, sizeof time, cudaMemcpyDeviceToHost);
    printf("%s\n", time[0] != 0 && time[1] >= time[0] ? "later" : "wrong");
    return 0;
}

static int run(int i)
{
    return i + 1;
}
struct engine my_engine = {run};
#pragma weak the_engine = my_engine

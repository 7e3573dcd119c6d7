// SPDX-License-Identifier: MIT
// Things that look like launches and declarations but are not; strings, comments, numbers.
// prints: k<<<1, 2>>>(x) __shared__ int a; 65 1000000 "quoted" ok
// prints: )" still raw <<<1,1>>>
#include <stdio.h>
#include <cuda_runtime.h>

/* k<<<1, 1>>>(x); __global__ void no() { asm("nothing"); } */
// __shared__ int nothing; k<<<1, 1>>>(in, a, comment);

#define TEXT(x) #x
#define PASTE(a, b) a##b
#define EMPTY
#define VARIADIC(format, ...) printf(format, ##__VA_ARGS__)

struct stream {
    int value;
};
template <class T> stream operator<<(stream s, T x)
{
    s.value += x;
    return s;
}
template <class T> bool operator<(stream s, T x)
{
    return s.value < x;
}

__global__ void PASTE(k, 1)(int *out EMPTY)
{
    const char quote = '"', brace = '{', *text = "}}}";
    out[threadIdx.x] = quote == 34 && brace == 123 && text[0] == '}' ? 1 : 0;
}

int main()
{
    const char *raw = R"x()" still raw <<<1,1>>>)x";
    const char *line = "k<<<1, 2>>>(x) __shared__ \
int a;";
    int *out, host = 0;
    stream s = {0};
    s = operator<<<int>(s, 60);
    s = s << 1 << 4;
    bool less = operator< <int>(s, 66);
    VARIADIC("%s %d %d \"quoted\" ", line, s.value, 1'000'000);
    cudaMalloc(&out, 4);
    k1<<<1, 1>>>(out);
    cudaMemcpy(&host, out, 4, cudaMemcpyDeviceToHost);
    VARIADIC("ok\n");
    printf("%s\n", raw);
    return host == 1 && less && sizeof TEXT(a <<< b >>> c) == 14 ? 0 : 1;
}

// A kernel reads constants of the host.
const int n = 3;
constexpr float pi = 3.14159f;
enum { THREADS = 64 };
__global__ void k(float *p)
{
    *p = n * pi * THREADS;
}
int main()
{
    k<<<1, THREADS>>>(nullptr);
}

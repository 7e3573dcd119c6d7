// Kernels in namespaces, one of them unnamed.
namespace a
{
namespace b
{
__global__ void k(int *p)
{
    *p = 1;
}
} // namespace b
} // namespace a
namespace
{
__global__ void own(int *p)
{
    *p = 2;
}
} // namespace
int main()
{
    a::b::k<<<1, 1>>>(nullptr);
    own<<<1, 1>>>(nullptr);
    using namespace a;
    b::k<<<1, 1>>>(nullptr);
}

// SPDX-License-Identifier: MIT
// What the tokens show to be wrong.
#define ASM asm
#define BARRIER ASM volatile("bar.sync 0;")

__global__ void assembly(int *out)
{
    asm volatile("mov.u32 %0, %laneid;" : "=r"(*out)); //!5 inline assembly in device code is not supported
    BARRIER;                                            //!5 inline assembly in device code is not supported
    asm volatile("ld.global.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(*out) : "l"(out)); //!5 inline assembly
    asm volatile("ld.volatile.volatile.global.u32 %0, [%1];" : "=r"(*out) : "l"(out)); //!5 inline assembly
    asm volatile("red.global.min.u32 [%0], %1;" ::"l"(out), "r"(1)); //!5 inline assembly
    asm volatile("ld.global.u8 %0, [%1];" : "=r"(*out) : "l"(out)); //!5 inline assembly
    asm volatile("st.global.u32 [%0], %1;" ::"l"(out), "r"(1) : "cc"); //!5 inline assembly
}

__attribute__((no_sanitize("thread"))) __device__ int unseen() { return 1; } //!16 no_sanitize is not allowed in device code

__global__ void parent(int *out)
{
    assembly<<<1, 1>>>(out); //!13 'parent' launches a kernel from device code
}

__device__ int counter()
{
    static int n = 0; //!5 static variable in device code
    static const int fine = 3;
    return n++ + fine;
}

__device__ void thrower()
{
    throw 1; //!5 device code cannot throw exceptions
}

__global__ void __cluster_dims__(2, 1, 1) clustered(int *out) { *out = 1; } //!1 thread block clusters are not modelled

extern __managed__ int managed; //!1 the virtual node knows a __managed__ variable

struct s {
    __global__ void member(int *out) { *out = 1; } //!21 kernel 's::member' is a member of a class
    static __device__ int shared_member;           //!5 a __device__ or __constant__ variable cannot be a member
};

void host(int *out)
{
    __shared__ int no_block;  //!5 __shared__ variable in host function 'host'
    assembly(out);            //!5 kernel 'assembly' is called like a function; launch it: assembly<<<blocks, threads>>>(...)
    assembly<<<1>>>(out);     //!13 a launch is <<<blocks, threads>>>, with the bytes of shared memory and a stream behind them if wanted; this one has 1 argument
    host<<<1, 1>>>(out);      //!9 'host' is no kernel: <<<>>> launches __global__ functions only
    assembly<<<1, 1>>> out;   //!13 this <<< has no >>>( behind it
}

__global__ void initialised()
{
    __shared__ int n = 3; //!20 __shared__ variable 'n' has an initialiser
}

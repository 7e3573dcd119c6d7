// SPDX-License-Identifier: MIT
// Host code that device code has nothing to do with: STL, exceptions, threads' locals, asm.
// prints: 3 caught 55 6
#include <cstdio>
#include <functional>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <typeinfo>
#include <vector>

std::vector<int> global = {1, 2, 3};
static int counter = 5;
thread_local int mine = 1;
int function_of_globals = (int)global.size();

struct __attribute__((aligned(32))) thing : std::string {
    using std::string::string;
    [[nodiscard]] explicit operator int() const { return (int)size(); }
    bool operator()(int) { return true; }
    thing &operator<<(int n) try {
        append((size_t)n, 'x');
        return *this;
    } catch (...) {
        throw;
    }
    int bits : 3;
};

template <class T> auto sum(const T &all) -> typename T::value_type
{
    typename T::value_type s{};
    for (auto &x : all)
        s += x;
    return s;
}

__global__ void nothing(int *out)
{
    *out = 55;
}

int main()
{
    int *out, host = 0, six = 0;
    std::map<std::string, std::function<int(int)>> table;
    table["a"] = [](int n) { return n + counter++; };
    std::printf("%d ", function_of_globals);
    try {
        throw std::runtime_error("x");
    } catch (const std::exception &e) {
        std::printf("caught ");
    }
#ifdef __x86_64__
    asm volatile("movl %1, %0" : "=r"(six) : "r"(6));
#else
    six = 6;
#endif
    cudaMalloc(&out, 4);
    nothing<<<1, 1>>>(out);
    cudaMemcpy(&host, out, 4, cudaMemcpyDeviceToHost);
    thing t("abc");
    t << 2;
    std::cout << host << " " << six << std::endl;
    return (int)t == 5 && sum(global) == 6 && table["a"](1) == 6 && mine == 1 &&
                   typeid(t) == typeid(thing)
               ? 0
               : 1;
}

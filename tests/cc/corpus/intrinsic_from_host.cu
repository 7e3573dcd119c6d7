// Host code calls __syncthreads().
int main()
{
    __syncthreads();
}

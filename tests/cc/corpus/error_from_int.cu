// An int is handed over as an error.
int main()
{
    int error = 0;
    return cudaGetErrorString(error) == nullptr;
}

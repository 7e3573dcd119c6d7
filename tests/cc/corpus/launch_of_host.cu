// A host function is launched.
void k(int *p)
{
    *p = 1;
}
int main()
{
    k<<<1, 1>>>(nullptr);
}

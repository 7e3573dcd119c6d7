// Braces narrow in host code.
struct size {
    int n;
};
int main()
{
    double d = 3;
    size s = {d};
    return s.n - 3;
}

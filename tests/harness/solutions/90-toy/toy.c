/* SPDX-License-Identifier: MIT */
#include "lab90.h"

int helper(int x); /* not static: learners forget it, and the reference has one of the same name */

int helper(int x)
{
    return x + x;
}

int toy_double(int x, int *result)
{
    *result = helper(x);
    return LAB_OK;
}

int toy_double_all(const int *in, int *out, int n)
{
    for (int i = 0; i < n; i++)
        toy_double(in[i], &out[i]);
    return LAB_OK;
}

int toy_sum(const int *in, int n, int *result)
{
    *result = 0;
    for (int i = 0; i < n; i++)
        *result += in[i];
    return LAB_OK;
}

int toy_negative_sum(const int *in, int n, int *result)
{
    int rc = toy_sum(in, n, result);
    *result = -*result;
    return rc;
}

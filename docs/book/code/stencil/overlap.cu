// SPDX-License-Identifier: MIT
// overlap.cu: the stencil on several GPUs. Edge rows are computed and sent while the inner rows are
// computed.
#include "overlap.h"

int main(int argc, char **argv)
{
    read_arguments(argc, argv);
    open_plate();
    enable_peer_access();
    open_edges();
    finish(timed(step, steps));
    close_edges();
    return 0;
}

/* SPDX-License-Identifier: MIT
 * help.c: prints vgpu-cc --help and --version.
 */
#include <stdio.h>

#include "options.h"

static const char help[] =
    "usage: vgpu-cc [options] file...\n"
    "\n"
    "Compiles CUDA (.cu), C (.c) and C++ (.cpp .cc .cxx) files for the virtual node and links\n"
    "them. The command line is nvcc's. CUDA files are compiled by Clang 14 or newer.\n"
    "\n"
    "What to do\n"
    "  (nothing)             compile and link to a program (a.out)\n"
    "  -c, --compile         compile each file to an object\n"
    "  -dc, --device-c       the same with -rdc=true\n"
    "  -fatbin, -cubin, -ptx compile the device code of each file alone, for cuModuleLoad: the\n"
    "                        first two are the same, the third is text\n"
    "  -dlink, --device-link only link the device code of objects, to an object (a_dlink.o) that\n"
    "                        the host's linker is given besides them\n"
    "  -E, --preprocess      preprocess the host pass to standard output\n"
    "  -M, -MM               print the files that a file depends on; -MM: without the system's\n"
    "  -o, --output-file F   name of the result\n"
    "  -odir DIR             the folder of objects that -o does not name\n"
    "  -x cu|c|c++|none      language of the files that follow\n"
    "\n"
    "For the compiler\n"
    "  -I, -isystem, -iquote, -idirafter DIR, -include FILE\n"
    "  -D NAME[=VALUE], -U NAME, -std=c++17\n"
    "  -O0 ... -O3, -g, -pg, -W..., -f..., -m...\n"
    "  -G, --device-debug    for debuggers: device code keeps its variables and is not optimized;\n"
    "                        implies -g. vgpu-gdb stops in kernels\n"
    "  -Werror [kind], -w    warnings are errors; no warnings\n"
    "  -Xcompiler A,B        options for the host compiler (--compiler-options)\n"
    "  -ccbin COMPILER       for C++ files and for linking, or the folder that g++ is in (.cu "
    "files\n"
    "                        are Clang's); else $VGPU_CXX, else g++; for C files $VGPU_CC, else "
    "gcc\n"
    "  -MD, -MMD             also write a dependency file; -MF FILE, -MT TARGET, -MQ TARGET, -MP\n"
    "  --default-stream legacy|null|per-thread  what stream 0 is (each thread has its own)\n"
    "  -rdc true|false       device code may use __device__ functions and variables of other "
    "files\n"
    "                        (extern); their device code is linked with the program\n"
    "  -precompile FOLDER    read what every .cu file includes, for all of them (the build does "
    "it)\n"
    "  -check-indices           end a kernel that indexes an array out of its range\n"
    "  -expt-relaxed-constexpr  let constexpr functions of the C++ library pass in device code\n"
    "  -extended-lambda (-expt-extended-lambda)  let lambdas of host functions pass in device "
    "code,\n"
    "                        marked __device__\n"
    "\n"
    "For the linker\n"
    "  -l NAME, -L DIR, -shared, -Xlinker A,B (--linker-options), -Wl,A,B\n"
    "\n"
    "About the run\n"
    "  -v, --verbose         show where the toolkit lies, and the commands\n"
    "  --dryrun              show the commands only\n"
    "  --keep, -save-temps   keep the intermediate files in the folder NAME.vgpu, or in that of\n"
    "                        --keep-dir DIR\n"
    "  --options-file FILE, -optf FILE, @FILE   more options, from a file\n"
    "  --clangd              print a .clangd, with which an editor reads .cu files as vgpu-cc "
    "does;\n"
    "                        -I, -D, -std and -include that stand beside it are in it\n"
    "  -h, --help, -V, --version\n"
    "\n"
    "Accepted, without a meaning for virtual GPUs: -arch, -code, -gencode, -lineinfo,\n"
    "-maxrregcount, -Xptxas, -Xcudafe, -Xnvlink, -Xfatbin, -Xarchive, -use_fast_math, -ftz,\n"
    "-prec-div, -prec-sqrt, -fmad, -cudart, -cudadevrt, -t, -m, -diag-suppress, -diag-warn,\n"
    "-diag-error, -err-no, -no-err-no, -brief-diag, -restrict, -res-usage, -source-in-ptx,\n"
    "-keep-device-functions, -split-compile, -split-compile-extended, -jobserver, -jtd, -dopt,\n"
    "-opt-info, -extra-device-vectorization, -compress-mode, -no-compress, -time,\n"
    "-fdevice-time-trace, -fdevice-syntax-only, -target-dir, -device-stack-protector,\n"
    "-static-global-template-stub, -device-entity-has-hidden-visibility, -forward-unknown-opts,\n"
    "-forward-unknown-to-host-compiler, -forward-unknown-to-host-linker,\n"
    "-Wno-deprecated-gpu-targets, -allow-unsupported-compiler.\n"
    "Refused: -lib, -run, -cuda, -dlto.\n"
    "\n"
    "Environment\n"
    "  VGPU_HOME   installation to take include/ and lib/ from\n"
    "  VGPU_CCCL   the folder of Thrust, CUB and libcu++ (none: without); else what ./lab start "
    "--cccl\n"
    "              has installed, else include/cccl of the CUDA Toolkit\n"
    "  VGPU_CLANG  the Clang for CUDA files; else clang++ or clang++-NN, whichever is in PATH\n"
    "  VGPU_CXX    the C++ compiler: g++ 11 or newer, or clang++ 14 or newer; VGPU_CC: the C one\n"
    "  NVCC_PREPEND_FLAGS, NVCC_APPEND_FLAGS   options before and behind those of the command\n"
    "  TMPDIR      where intermediate files go\n";

void cc_print_help(void)
{
    fputs(help, stdout);
}

void cc_print_version(void)
{
    puts("vgpu-cc: compiler driver of the virtual node, for CUDA 13.0 sources; it stands in for");
    puts("nvcc: NVIDIA (R) Cuda compiler driver"); /* CMake recognises nvcc by this line */
    puts("Cuda compilation tools, release 13.0, V13.0.88");
}

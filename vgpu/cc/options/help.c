/* SPDX-License-Identifier: MIT
 * help.c: prints vgpu-cc --help and --version.
 */
#include <stdio.h>
#include <string.h>

#include "option_table.h"

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
    "  -lib                  put the objects into an archive (a.a)\n"
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
    "  -D NAME[=VALUE], -U NAME, -std=c++17 (.cu files: c++11 and later; c++03 means c++11)\n"
    "                        lists, too: -D A=1,B=2 (a comma in a value: \\, or \"...\")\n"
    "  -O0 ... -O3, -g, -pg, -W..., -f..., -m...\n"
    "  -G, --device-debug    for debuggers: device code keeps its variables and is not optimised;\n"
    "                        implies -g. vgpu-gdb stops in kernels\n"
    "  -Werror [kind,...], -w  warnings are errors; no warnings\n"
    "  -noeh, -ftemplate-depth N, -ftemplate-backtrace-limit N, -frandom-seed S\n"
    "  -Xcompiler A,B        options for the host compiler (--compiler-options)\n"
    "  -ccbin COMPILER       the compiler of C++ files and of the link, or the folder that g++ is\n"
    "                        in; else $VGPU_CXX, else g++. For C files $VGPU_CC, else gcc. Clang\n"
    "                        compiles .cu files: where there are any, a note says so (-w: none)\n"
    "  -MD, -MMD             also write a dependency file; -MF FILE, -MT TARGET, -MQ TARGET, -MP\n"
    "  --default-stream legacy|null|per-thread  what stream 0 is (each thread has its own)\n"
    "  -rdc true|false       device code may use __device__ functions and variables of other "
    "files\n"
    "                        (extern); their device code is linked with the program\n"
    "  -precompile FOLDER    read what every .cu file includes, for all that have the same\n"
    "                        options (the build does it)\n"
    "  -ptx-part NUMBER|all  of PTX: one part of the module, or their list (the runtime does it)\n"
    "  -use_fast_math        in device code expf, logf, powf and others are __expf, __logf and\n"
    "                        __powf; with -rdc true if device code is linked with it. Quotients,\n"
    "                        roots and subnormal numbers stay exact\n"
    "  -check-indices           end a kernel that indexes an array out of its range\n"
    "  -expt-relaxed-constexpr  let constexpr functions of the C++ library pass in device code\n"
    "  -extended-lambda (-expt-extended-lambda)  let lambdas of host functions pass in device "
    "code,\n"
    "                        marked __device__\n"
    "\n"
    "For the linker\n"
    "  -l NAME, -L DIR, -shared, -Xlinker A,B (--linker-options), -Wl,A,B\n"
    "  -r                    to an object again, without the runtime\n"
    "  -nodlink              without linking device code\n"
    "  -arbin AR, -Xarchive A,B  for -lib: the archiver, and options for it\n"
    "\n"
    "About the run\n"
    "  -run, -run-args A,B   run what was linked, with these arguments\n"
    "  -v, --verbose         show where the toolkit lies, and the commands\n"
    "  --dryrun              show the commands only\n"
    "  --keep, -save-temps   keep the intermediate files in the folder NAME.vgpu, or in that of\n"
    "                        --keep-dir DIR\n"
    "  --options-file FILE, -optf FILE, @FILE   more options, from a file\n"
    "  --clangd              print a .clangd, with which an editor reads .cu files as vgpu-cc "
    "does;\n"
    "                        -I, -D, -std and -include that stand beside it are in it\n"
    "  -h, --help, -V, --version\n"
    "  -arch-ls, -code-ls    print the names of architectures\n"
    "\n"
    "Accepted, without a meaning for virtual GPUs:";

static const char environment[] =
    "Environment\n"
    "  VGPU_HOME   installation to take include/ and lib/ from\n"
    "  VGPU_CCCL   the folder of Thrust, CUB and libcu++ (none: without); else what ./lab start "
    "--cccl\n"
    "              has installed, else include/cccl of the CUDA Toolkit\n"
    "  VGPU_CLANG  the Clang for CUDA files; else clang++ or clang++-NN, whichever is in PATH\n"
    "  VGPU_CXX    the C++ compiler: g++ 11 or newer, or clang++ 14 or newer; VGPU_CC: the C one\n"
    "  NVCC_PREPEND_FLAGS, NVCC_APPEND_FLAGS   options before and behind those of the command\n"
    "  TMPDIR      where intermediate files go\n";

static const char version[] =
    "vgpu-cc: compiler driver of the virtual node, for CUDA 13.0 sources; it stands in for\n"
    "nvcc: NVIDIA (R) Cuda compiler driver\n" /* CMake recognises nvcc by this line */
    "Cuda compilation tools, release 13.0, V13.0.88\n";

/* As nvcc 13.0; all are accepted. */
static const int architecture[] = {75, 80, 86, 87, 88, 89, 90, 100, 110, 103, 120, 121};

/* In lines of a width. */
static void print_option_names(struct cc_list names)
{
    enum { WIDTH = 95 };
    size_t used = WIDTH;

    for (size_t i = 0; i < names.count; i++) {
        size_t length = strlen(names.item[i]) + 1;
        if (used + length > WIDTH)
            used = (size_t)printf("\n ") - 1;
        printf(" %s", names.item[i]);
        used += length;
    }
    putchar('\n');
}

static void print_help(void)
{
    fputs(help, stdout);
    print_option_names(cc_names_of(IGNORE));
    fputs("Refused:", stdout);
    print_option_names(cc_names_of(REFUSE));
    printf("\n%s", environment);
}

void cc_answer(enum cc_question question)
{
    if (question == CC_HELP)
        print_help();
    else if (question == CC_VERSION)
        fputs(version, stdout);
    else
        for (size_t i = 0; i < sizeof architecture / sizeof *architecture; i++)
            printf("%s_%d\n", question == CC_GPU_CODE ? "sm" : "compute", architecture[i]);
}

# SPDX-License-Identifier: MIT
# openmp.cmake: PEERLAB_OPENMP, the words with which vgpu-cc compiles OpenMP. Empty without Clang's
# library, which is in libomp-dev and which ./lab start does not install: no learner needs it.
find_program(PEERLAB_CLANG NAMES $ENV{VGPU_CLANG} clang++ clang++-19 clang++-18 clang++-17 clang++-16
             clang++-15 clang++-14)
execute_process(COMMAND ${PEERLAB_CLANG} -fopenmp -fsyntax-only -include omp.h -x c++ /dev/null
                RESULT_VARIABLE _openmp_failed OUTPUT_QUIET ERROR_QUIET)
set(PEERLAB_OPENMP)
if(NOT _openmp_failed)
  set(PEERLAB_OPENMP -Xcompiler -fopenmp)
endif()

# SPDX-License-Identifier: MIT
# toolkit.cmake: the virtual node in the shape of a CUDA Toolkit, for build systems that look for one
# (CUDAToolkit_ROOT, CUDACXX): bin/nvcc, include, lib64 with CUDA's own library names, version.json.
# In the build tree it is toolkit/, made of links; `cmake --install` puts the same names into the
# prefix.

# ---- libraries: the runtime under CUDA's names ----
# The shared one is for programs that link it (CUDA::cudart, CUDA::cuda_driver) or open it by name;
# what vgpu-cc links has the runtime inside.
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/nothing.c CONTENT "typedef int vgpu_nothing;\n")
find_package(Threads REQUIRED)
add_library(cudart SHARED ${CMAKE_CURRENT_BINARY_DIR}/nothing.c)
target_link_libraries(cudart PRIVATE $<LINK_LIBRARY:WHOLE_ARCHIVE,vgpurt> ${CMAKE_DL_LIBS} rt m)
# The versions that programs linked with NVIDIA's ask for.
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/cudart.map
  CONTENT "libnvrtc.so.13 {\n  global: nvrtc*;\n};\nlibcudart.so.13 {\n  global: *;\n};\n")
set(linked_names ${CMAKE_CURRENT_LIST_DIR}/api/driver/linked_names.ld)
target_link_options(cudart PRIVATE ${linked_names}
  "LINKER:--version-script,${CMAKE_CURRENT_BINARY_DIR}/cudart.map")
set_target_properties(cudart PROPERTIES VERSION 13.0.88 SOVERSION 13
  LINK_DEPENDS "${CMAKE_CURRENT_BINARY_DIR}/cudart.map;${linked_names}")
# Libraries as Toolkit 12 names them are jumps to it, and, of the runtime, what is another function there
# (run/cudart12.c).
add_library(cudart12_own OBJECT run/cudart12.c)
target_include_directories(cudart12_own PRIVATE include)
set_target_properties(cudart12_own PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_compile_options(cudart12_own PRIVATE -Wall -Wextra -Werror -O2)
function(older_library target name pattern)
  set(jumps ${CMAKE_CURRENT_BINARY_DIR}/${target}_jumps)
  add_custom_command(OUTPUT ${jumps}.o
    COMMAND sh ${CMAKE_CURRENT_LIST_DIR}/run/older_jumps.sh ${CMAKE_NM} $<TARGET_FILE:cudart>
            ${pattern} ${name}.so.13 ${ARGN} > ${jumps}.s
    COMMAND ${CMAKE_C_COMPILER} -c ${jumps}.s -o ${jumps}.o
    DEPENDS cudart ${ARGN} run/older_jumps.sh VERBATIM)
  file(CONFIGURE OUTPUT ${jumps}.map
    CONTENT "${name}.so.12 {\n  global: cuda*; __cuda*; nvrtc*;\n  local: *;\n};\n")
  add_library(${target} SHARED ${ARGN} ${jumps}.o)
  target_link_libraries(${target} PRIVATE cudart)
  target_link_options(${target} PRIVATE
    LINKER:-soname,${name}.so.12 "LINKER:--version-script,${jumps}.map")
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME ${name}.so SUFFIX .12 NO_SONAME ON
    LINKER_LANGUAGE C INSTALL_RPATH "$ORIGIN" LINK_DEPENDS ${jumps}.map)
endfunction()
older_library(cudart12 libcudart "\\(__\\)*cuda[A-Za-z0-9_]*" $<TARGET_OBJECTS:cudart12_own>)
older_library(nvrtc12 libnvrtc "nvrtc[A-Za-z0-9_]*")
# What vgpu-run loads beside programs with NVIDIA's runtime inside; in other processors' machine code
# there is none. It is not linked with ours: the dynamic linker gives it libraries of its own.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_library(static_runtime MODULE run/static_runtime.c common/elf_read.c)
  target_include_directories(static_runtime PRIVATE include common)
  add_dependencies(static_runtime cudart12)
  set_target_properties(static_runtime PROPERTIES OUTPUT_NAME vgpu-static-runtime)
  install(TARGETS static_runtime DESTINATION lib)
endif()
# libnccl.a has the runtime beside it, too: not by target_link_libraries, which would put it inside.
add_library(nccl_shared SHARED ${CMAKE_CURRENT_BINARY_DIR}/nothing.c)
add_dependencies(nccl_shared nccl)
target_link_options(nccl_shared PRIVATE
  "LINKER:--whole-archive,$<TARGET_FILE:nccl>,--no-whole-archive")
target_link_libraries(nccl_shared PRIVATE cudart)
set_target_properties(nccl_shared PROPERTIES OUTPUT_NAME nccl VERSION 2.28.3 SOVERSION 2
  LINK_DEPENDS $<TARGET_FILE:nccl> LINKER_LANGUAGE CXX INSTALL_RPATH "$ORIGIN")
add_library(cudadevrt STATIC ${CMAKE_CURRENT_BINARY_DIR}/nothing.c) # -rdc needs nothing of it

set(toolkit_names libcudart_static.a:libvgpurt.a libcuda.so:libcudart.so.13 libcuda.so.1:libcudart.so.13
    libnvrtc.so:libcudart.so.13 libnvrtc.so.13:libcudart.so.13)

# ---- in the build tree ----
set(toolkit ${PROJECT_BINARY_DIR}/toolkit)
file(MAKE_DIRECTORY ${toolkit}/bin ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
file(CREATE_LINK ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/vgpu-cc ${toolkit}/bin/nvcc SYMBOLIC)
file(CREATE_LINK ${CMAKE_CURRENT_LIST_DIR}/include ${toolkit}/include SYMBOLIC)
file(CREATE_LINK ${CMAKE_LIBRARY_OUTPUT_DIRECTORY} ${toolkit}/lib64 SYMBOLIC)
file(CREATE_LINK ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/vgpu-gdb ${toolkit}/bin/cuda-gdb SYMBOLIC)
configure_file(gdb/vgpu-gdb ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/vgpu-gdb COPYONLY)
configure_file(run/vgpu-run ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/vgpu-run @ONLY)
configure_file(gdb/vgpu_gdb.py ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/vgpu/vgpu_gdb.py COPYONLY)
foreach(pair IN LISTS toolkit_names)
  string(REPLACE ":" ";" pair ${pair})
  list(GET pair 0 name)
  list(GET pair 1 target)
  file(CREATE_LINK ${target} ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/${name} SYMBOLIC)
  install(CODE "file(CREATE_LINK ${target} \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib/${name}\" SYMBOLIC)")
endforeach()
file(WRITE ${toolkit}/version.json
  "{\"cuda\": {\"name\": \"CUDA SDK\", \"version\": \"13.0.88\"},\n"
  " \"cuda_cudart\": {\"name\": \"CUDA Runtime\", \"version\": \"13.0.88\"},\n"
  " \"cuda_nvcc\": {\"name\": \"CUDA NVCC\", \"version\": \"13.0.88\"},\n"
  " \"peerlab\": {\"name\": \"virtual GPUs\", \"version\": \"${PROJECT_VERSION}\"}}\n")

# ---- installed ----
install(TARGETS cudart cudart12 nvrtc12 nccl_shared cudadevrt DESTINATION lib)
install(FILES ${toolkit}/version.json DESTINATION .)
install(PROGRAMS gdb/vgpu-gdb run/vgpu-run DESTINATION bin)
install(FILES gdb/vgpu_gdb.py DESTINATION lib/vgpu)
install(CODE "file(CREATE_LINK vgpu-cc \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin/nvcc\" SYMBOLIC)
file(CREATE_LINK vgpu-gdb \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/bin/cuda-gdb\" SYMBOLIC)
file(CREATE_LINK lib \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/lib64\" SYMBOLIC)")
include(CMakePackageConfigHelpers)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/peerlabConfig.cmake.in
  ${CMAKE_CURRENT_BINARY_DIR}/peerlabConfig.cmake INSTALL_DESTINATION lib/cmake/peerlab)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/peerlabConfigVersion.cmake
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/peerlabConfig.cmake
  ${CMAKE_CURRENT_BINARY_DIR}/peerlabConfigVersion.cmake DESTINATION lib/cmake/peerlab)
configure_file(peerlab.pc.in ${CMAKE_CURRENT_BINARY_DIR}/peerlab.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/peerlab.pc DESTINATION lib/pkgconfig)
# The precompiled prelude names the folder that it was made in; with DESTDIR that is another one.
install(CODE "if(NOT DEFINED ENV{DESTDIR})
  file(MAKE_DIRECTORY \"\${CMAKE_INSTALL_PREFIX}/lib/vgpu\")
  set(usual \"${vgpu_cc_usual}\")
  foreach(words IN LISTS usual)
    separate_arguments(words)
    execute_process(COMMAND \"\${CMAKE_INSTALL_PREFIX}/bin/vgpu-cc\" --precompile
      \"\${CMAKE_INSTALL_PREFIX}/lib/vgpu\" \${words} COMMAND_ERROR_IS_FATAL ANY)
  endforeach()
endif()")

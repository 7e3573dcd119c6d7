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
# The version that programs linked with NVIDIA's ask for.
file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/cudart.map
  CONTENT "libcudart.so.13 {\n  global: *;\n};\n")
set(linked_names ${CMAKE_CURRENT_LIST_DIR}/api/driver/linked_names.ld)
target_link_options(cudart PRIVATE ${linked_names}
  "LINKER:--version-script,${CMAKE_CURRENT_BINARY_DIR}/cudart.map")
set_target_properties(cudart PROPERTIES VERSION 13.0.88 SOVERSION 13
  LINK_DEPENDS "${CMAKE_CURRENT_BINARY_DIR}/cudart.map;${linked_names}")
# What vgpu-run preloads into programs with NVIDIA's runtime inside; in other processors' machine code
# there is none.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_library(static_runtime MODULE run/static_runtime.c common/elf_read.c)
  target_include_directories(static_runtime PRIVATE include common)
  target_link_libraries(static_runtime PRIVATE cudart)
  set_target_properties(static_runtime PROPERTIES OUTPUT_NAME vgpu-static-runtime INSTALL_RPATH "$ORIGIN")
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
configure_file(run/vgpu-run ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/vgpu-run COPYONLY)
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
install(TARGETS cudart nccl_shared cudadevrt DESTINATION lib)
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
  execute_process(COMMAND \"\${CMAKE_INSTALL_PREFIX}/bin/vgpu-cc\" --precompile
    \"\${CMAKE_INSTALL_PREFIX}/lib/vgpu\" COMMAND_ERROR_IS_FATAL ANY)
endif()")

# SPDX-License-Identifier: MIT
# built.cmake: PEERLAB_NODE=FOLDER, a build folder of this checkout: its virtual node is taken as it is
# there, in links, and not built once more.
cmake_path(ABSOLUTE_PATH PEERLAB_NODE BASE_DIRECTORY ${PROJECT_SOURCE_DIR} NORMALIZE)
set(programs vgpu-node vgpu-exec vgpu-smi vgpu-cc)
foreach(name IN LISTS programs ITEMS vgpu-run vgpu-gdb)
  list(APPEND taken bin/${name})
endforeach()
file(GLOB libraries RELATIVE ${PEERLAB_NODE} ${PEERLAB_NODE}/lib/libcud* ${PEERLAB_NODE}/lib/libnvrtc*)
list(APPEND taken ${libraries} lib/libcudart.so lib/libvgpu_common.a lib/vgpu toolkit)
list(REMOVE_DUPLICATES taken)
file(MAKE_DIRECTORY ${PEERLAB_BIN} ${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
foreach(file IN LISTS taken)
  if(NOT EXISTS ${PEERLAB_NODE}/${file})
    message(FATAL_ERROR "PEERLAB_NODE is ${PEERLAB_NODE}, which has no ${file}. Build it there first.")
  endif()
  file(CREATE_LINK ${PEERLAB_NODE}/${file} ${PROJECT_BINARY_DIR}/${file} SYMBOLIC)
endforeach()

foreach(name IN LISTS programs)
  add_executable(${name} IMPORTED GLOBAL)
  set_property(TARGET ${name} PROPERTY IMPORTED_LOCATION ${PEERLAB_NODE}/bin/${name})
endforeach()
add_library(cudart SHARED IMPORTED GLOBAL)
set_property(TARGET cudart PROPERTY IMPORTED_LOCATION ${PEERLAB_NODE}/lib/libcudart.so)
add_library(vgpu_common STATIC IMPORTED GLOBAL)
set_target_properties(vgpu_common PROPERTIES
  IMPORTED_LOCATION ${PEERLAB_NODE}/lib/libvgpu_common.a
  INTERFACE_INCLUDE_DIRECTORIES ${CMAKE_CURRENT_LIST_DIR}/common)

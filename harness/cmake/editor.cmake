# SPDX-License-Identifier: MIT
# editor.cmake: what editors with clangd read, as links in the root: compile_commands.json, and
# .clangd, which says how files of the labs and .cu files are read (C ones as lab_build.cmake
# compiles them, .cu files as vgpu-cc does). Files of that name that are no links stay.

set(PEERLAB_EDITOR ${PROJECT_BINARY_DIR}/clangd)

function(_peerlab_root_link name target)
  set(link ${PROJECT_SOURCE_DIR}/${name})
  if(NOT EXISTS ${link} OR IS_SYMLINK ${link})
    file(RELATIVE_PATH target ${PROJECT_SOURCE_DIR} ${target})
    file(CREATE_LINK ${target} ${link} SYMBOLIC)
  endif()
endfunction()

# At the end of the project: the labs have said which headers of others they use.
function(peerlab_write_editor)
  if(NOT PROJECT_BINARY_DIR STREQUAL "${PROJECT_SOURCE_DIR}/build/vgpu")
    return() # of several build trees this one is the editor's
  endif()
  get_property(used GLOBAL PROPERTY PEERLAB_USED_HEADERS)
  list(REMOVE_DUPLICATES used)
  list(TRANSFORM used PREPEND -I)
  set(includes -I${PEERLAB_HARNESS_DIR} -I.. ${used})
  list(JOIN includes "', '" PEERLAB_EDITOR_INCLUDES)
  set(PEERLAB_EDITOR_SOLUTIONS) # a solution's headers are the lab's
  file(GLOB folders RELATIVE ${PROJECT_SOURCE_DIR}/solutions ${PROJECT_SOURCE_DIR}/solutions/*-*)
  foreach(folder IN LISTS folders)
    set(lab ${PROJECT_SOURCE_DIR}/labs/${folder})
    string(APPEND PEERLAB_EDITOR_SOLUTIONS "If:\n  PathMatch: solutions/${folder}/.*\nCompileFlags:\n"
           "  Add: ['-I${lab}', '-I${lab}/tests']\n---\n")
  endforeach()
  configure_file(${PEERLAB_HARNESS_DIR}/cmake/clangd.in ${PEERLAB_EDITOR}.labs @ONLY)
  add_custom_command(
    OUTPUT ${PEERLAB_EDITOR}
    COMMAND sh -c "cp \"$1\" \"$2\" && out=$2 && shift 2 && \"$@\" >>\"$out\"" sh
            ${PEERLAB_EDITOR}.labs ${PEERLAB_EDITOR} $<TARGET_FILE:vgpu-cc> --clangd ${includes}
    DEPENDS vgpu-cc ${PEERLAB_EDITOR}.labs
    COMMENT "Writing what editors read"
    VERBATIM)
  add_custom_target(editor ALL DEPENDS ${PEERLAB_EDITOR})
  _peerlab_root_link(.clangd ${PEERLAB_EDITOR})
  _peerlab_root_link(compile_commands.json ${PROJECT_BINARY_DIR}/compile_commands.json)
endfunction()

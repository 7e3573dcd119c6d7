# SPDX-License-Identifier: MIT
# rooms.cmake: the parts of peerlab, their rooms, and who may use whom. The table is at the end.
#
#   peerlab_part(NAME FOLDER F TARGETS T ... [ROOMS TOP ... BOTTOM] LARGEST N)
#   peerlab_part(NAME FOLDER F PYTHON        [ROOMS TOP ... BOTTOM] LARGEST N)
#
# declares a part: its folder, what it is built from (or that it is a Python package), its rooms,
# highest first, and how many files may use each other in a circle. A room is a folder of the part. It
# may use itself and the rooms below it; files of the part that are in no room (its main) may use all
# of them, and no room may use these. tests/suite/rooms.py reads the table from BUILD/rooms.json and holds the
# object files' symbols, or the imports, to it.
#
#   peerlab_room(NAME ROOM SOURCES S ... [LIBRARIES L ...])
#
# makes the target NAME_ROOM of sources in the room's folder. They can include the room's headers, and
# of each room below only its door: the headers in ROOM/door. What uses the part can ask for
# PEERLAB_PART_NAME_TARGETS.
#
# WRONG: an example that the test of rooms.py must reject, in rooms-wrong.json.

function(peerlab_part name)
  cmake_parse_arguments(PART "WRONG;PYTHON" "FOLDER;LARGEST" "TARGETS;ROOMS" ${ARGN})
  if(PART_UNPARSED_ARGUMENTS OR NOT PART_LARGEST OR NOT PART_FOLDER)
    message(FATAL_ERROR "peerlab_part(${name}): FOLDER and LARGEST are missing, or unknown: "
                        "'${PART_UNPARSED_ARGUMENTS}'")
  endif()
  set(which right)
  if(PART_WRONG)
    set(which wrong)
  endif()
  set_property(GLOBAL APPEND PROPERTY PEERLAB_PARTS_${which} ${name})
  foreach(field IN ITEMS FOLDER LARGEST TARGETS ROOMS)
    set_property(GLOBAL PROPERTY PEERLAB_PART_${name}_${field} ${PART_${field}})
  endforeach()
endfunction()

function(peerlab_room part room)
  cmake_parse_arguments(ROOM "" "" "SOURCES;LIBRARIES" ${ARGN})
  get_property(rooms GLOBAL PROPERTY PEERLAB_PART_${part}_ROOMS)
  list(FIND rooms ${room} at)
  if(at LESS 0 OR NOT ROOM_SOURCES OR ROOM_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "peerlab_room(${part} ${room}): no such room in harness/cmake/rooms.cmake, or no "
                        "SOURCES, or unknown: '${ROOM_UNPARSED_ARGUMENTS}'")
  endif()
  list(SUBLIST rooms ${at} -1 below)
  list(TRANSFORM below PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  list(TRANSFORM below APPEND /door)
  list(TRANSFORM ROOM_SOURCES PREPEND ${room}/)
  add_library(${part}_${room} OBJECT ${ROOM_SOURCES})
  target_include_directories(${part}_${room} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/${room} ${below})
  target_link_libraries(${part}_${room} PRIVATE ${ROOM_LIBRARIES})
  set_property(GLOBAL APPEND PROPERTY PEERLAB_PART_${part}_TARGETS ${part}_${room})
endfunction()

# At the end of the project: writes the table.
function(peerlab_write_parts)
  foreach(which IN ITEMS right wrong)
    get_property(names GLOBAL PROPERTY PEERLAB_PARTS_${which})
    set(parts)
    foreach(name IN LISTS names)
      _peerlab_part_text(${name} part)
      list(APPEND parts "${part}")
    endforeach()
    list(JOIN parts ",\n" parts)
    set(file rooms.json)
    if(which STREQUAL "wrong")
      set(file rooms-wrong.json)
    endif()
    file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/${file} CONTENT "[\n${parts}\n]\n")
  endforeach()
endfunction()

function(_peerlab_part_text name result)
  foreach(field IN ITEMS FOLDER LARGEST TARGETS ROOMS)
    get_property(${field} GLOBAL PROPERTY PEERLAB_PART_${name}_${field})
  endforeach()
  set(objects)
  foreach(target IN LISTS TARGETS)
    list(APPEND objects "\"${target}\": [\"$<JOIN:$<TARGET_OBJECTS:${target}>,\"$<COMMA> \">\"]")
  endforeach()
  list(JOIN objects ", " objects)
  list(JOIN ROOMS "\", \"" rooms)
  set(text "{\"name\": \"${name}\", \"folder\": \"${FOLDER}\", \"rooms\": [\"${rooms}\"],")
  string(APPEND text " \"largest\": ${LARGEST}, \"targets\": {${objects}}}")
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# ---- the table ----

peerlab_part(node FOLDER vgpu/node TARGETS vgpu-node
             ROOMS server check trace clock graph memory machine system LARGEST 6)
peerlab_part(api FOLDER vgpu/api TARGETS vgpurt
             ROOMS driver runtime graph work checks memory clock core LARGEST 2)
peerlab_part(exec FOLDER vgpu/exec TARGETS vgpu-exec
             ROOMS run access threads race weak counts context LARGEST 5)
peerlab_part(cc FOLDER vgpu/cc TARGETS vgpu-cc
             ROOMS compile lower lanes ptx module options base LARGEST 2)
peerlab_part(harness FOLDER harness
             ROOMS verifier cases node runner jail base LARGEST 2)
peerlab_part(grader FOLDER grader PYTHON
             ROOMS commands lti selfcheck book export calibrate cluster leaderboard grade learning sandbox building course base
             LARGEST 1)

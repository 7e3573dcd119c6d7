# SPDX-License-Identifier: MIT
# build_first.cmake: brings a lab's programs up to date before its tests run, and says whose fault
# it is when that fails. Run with -D BUILD= TARGET= FILE= ROOT= RESULTS=. What is said is kept in
# RESULTS/build.TARGET.txt; its time tells which results are of this run.

# A source that was put in another one's place with its old time (mv, cp -p, an archive) is older than
# what was built of the other one, and would not be built (grader/learning/standing.py does the same).
cmake_path(GET FILE PARENT_PATH folder)
file(GLOB runners ${BUILD}/runners/${TARGET}-run*)
foreach(runner IN LISTS runners)
  execute_process(
    COMMAND find ${folder} -maxdepth 1 -name *.[ch]* -newercm ${runner} ! -newer ${runner} -exec touch {} +
    ERROR_QUIET)
endforeach()

cmake_host_system_information(RESULT cores QUERY NUMBER_OF_LOGICAL_CORES)
execute_process(
  COMMAND ${CMAKE_COMMAND} --build ${BUILD} --target ${TARGET} --parallel ${cores}
  RESULT_VARIABLE failed
  OUTPUT_VARIABLE output
  ERROR_VARIABLE output)
if(NOT failed)
  file(WRITE ${RESULTS}/build.${TARGET}.txt "")
  return()
endif()
cmake_path(RELATIVE_PATH FILE BASE_DIRECTORY ${ROOT} OUTPUT_VARIABLE shown)
string(REPLACE "${ROOT}/" "" output "${output}")
string(REGEX REPLACE "(^|\n)(\\[|FAILED: |ninja: |g?make|cd )[^\n]*" "" output "${output}") # not a compiler's
if(output MATCHES "${shown}:[0-9]+(:[0-9]+)?: (fatal )?error" OR output MATCHES "error: not defined")
  string(APPEND output "\n${shown} does not compile yet: see the first error above.")
else()
  string(APPEND output "\nBuilding ${TARGET} failed, and not because of ${shown}: see above.")
endif()
file(WRITE ${RESULTS}/build.${TARGET}.txt "${output}\n")
message("${output}")
message(FATAL_ERROR "Nothing was run.")

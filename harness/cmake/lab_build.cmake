# SPDX-License-Identifier: MIT
# lab_build.cmake: the targets of a lab; used by peerlab_lab() only, in whose scope its macros run.
# Students' code is compiled and linked by labcc.sh, so that mutants and submissions are built by
# the very same commands.

set(_lab_cc ${PEERLAB_HARNESS_DIR}/cmake/labcc.sh)

# One word a line, quoted for the shell.
function(_lab_words variable)
  list(JOIN ARGN "\n" words)
  string(REPLACE "'" "'\\''" words "${words}")
  set(${variable} "'${words}'" PARENT_SCOPE)
endfunction()

# GNU's nm first loads all plugins of compilers that it finds, which takes ten times as long as the
# rest of it, and the objects of labs need none. Binutils 2.38 complains (Ubuntu 22.04).
set(PEERLAB_NM ${CMAKE_NM})
execute_process(COMMAND ${CMAKE_NM} --version OUTPUT_VARIABLE _nm_is ERROR_QUIET)
execute_process(COMMAND ${CMAKE_NM} --plugin /dev/null
                        ${CMAKE_BINARY_DIR}/CMakeFiles/${CMAKE_VERSION}/CMakeDetermineCompilerABI_C.bin
                RESULT_VARIABLE _nm_failed OUTPUT_QUIET ERROR_VARIABLE _nm_said)
if(NOT _nm_failed AND NOT _nm_said AND _nm_is MATCHES "GNU nm")
  list(APPEND PEERLAB_NM --plugin /dev/null)
endif()

# What a mistake in a host function would leave to chance is made the same in every run on the virtual
# node: a variable without a value has a pattern, and an index that is not in its array ends the program
# (harness/runner/bounds.c). lab_c_checks for the C compiler, lab_cuda_checks for vgpu-cc's.
include(CheckCCompilerFlag)
set(lab_c_checks)
set(lab_cuda_checks)
if(PEERLAB_BACKEND STREQUAL "vgpu")
  check_c_compiler_flag(-ftrivial-auto-var-init=pattern PEERLAB_FILLS_VARIABLES) # GCC 12, Clang 8
  set(lab_cuda_checks ,-ftrivial-auto-var-init=pattern)
  if(PEERLAB_FILLS_VARIABLES)
    list(APPEND lab_c_checks -ftrivial-auto-var-init=pattern)
  endif()
  if(NOT PEERLAB_SANITIZE) # which looks for more than bounds
    string(APPEND lab_cuda_checks ,-fsanitize=bounds,-fno-sanitize-recover=bounds)
    set(bounds bounds)
    if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
      set(bounds bounds-strict) # the last array of a structure, too, as Clang does
    endif()
    list(APPEND lab_c_checks -fsanitize=${bounds} -fno-sanitize-recover=${bounds})
  endif()
endif()

# Compilers and libraries of the back end, as lists: lab_cc, lab_cuc, lab_link, lab_libs.
macro(_lab_tools)
  separate_arguments(c_flags UNIX_COMMAND "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${PEERLAB_BUILD_TYPE}}")
  separate_arguments(cxx_flags UNIX_COMMAND
                     "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${PEERLAB_BUILD_TYPE}}")
  list(REMOVE_ITEM c_flags -DNDEBUG) # a student's assert() must hold, optimised or not
  list(REMOVE_ITEM cxx_flags -DNDEBUG)
  set(pic -fPIC -fsemantic-interposition -ffunction-sections) # see labcc.sh
  set(includes -I${PEERLAB_HARNESS_DIR} -I${student} -I${student}/tests)
  set(lab_uses ${LAB_USES})
  set(lab_used_objects ${LAB_USES})
  list(FILTER lab_uses EXCLUDE REGEX "\\.[ho]$")
  list(FILTER lab_used_objects INCLUDE REGEX "\\.o$")
  list(TRANSFORM lab_used_objects PREPEND ${PROJECT_SOURCE_DIR}/)
  set(lab_used_headers ${LAB_USES}) # the folders of these
  list(FILTER lab_used_headers INCLUDE REGEX "\\.h$")
  list(TRANSFORM lab_used_headers REPLACE "^(.*)/[^/]*$" "${PROJECT_SOURCE_DIR}/\\1")
  set_property(GLOBAL APPEND PROPERTY PEERLAB_USED_HEADERS ${lab_used_headers}) # editor.cmake
  list(TRANSFORM lab_used_headers PREPEND -I OUTPUT_VARIABLE used_includes)
  list(APPEND includes ${used_includes})
  set(lab_libs ${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/liblabrun.a)
  if(PEERLAB_BACKEND STREQUAL "vgpu" AND NOT PEERLAB_NVCC)
    list(APPEND includes -I${PROJECT_SOURCE_DIR}/vgpu/include)
    set(cuc ${PEERLAB_BIN}/vgpu-cc)
    set(lab_link ${CMAKE_CXX_COMPILER} ${cxx_flags} ${PEERLAB_SANITIZE_HOST})
    if(NOT PEERLAB_SANITIZE AND # a sanitizer of C++ needs libstdc++, also in an adapter
       NOT "${LAB_FILE};${LAB_GIVEN};${LAB_PROGRAM};${LAB_USES}" MATCHES "\\.(cu|o)(;|$)")
      set(lab_link ${CMAKE_C_COMPILER} ${c_flags} ${PEERLAB_SANITIZE_HOST}) # no libstdc++ to read
    endif()
    if(NOT PEERLAB_SANITIZE) # what a task does not reach is not in its runner: grader/learning/kept.py
      list(APPEND lab_link -Wl,--gc-sections)
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      list(APPEND lab_link -fno-use-linker-plugin) # loading it is a quarter of a link
    endif()
    if(TARGET vgpurt)
      list(APPEND lab_libs -Wl,--start-group ${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/libvgpurt.a
           ${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/libvgpu_common.a -Wl,--end-group)
    endif()
    list(APPEND lab_libs -pthread -ldl -lrt -lm)
    set(lab_cuda_flags -check-indices)
    set(toolkit)
  else()
    list(TRANSFORM CUDAToolkit_INCLUDE_DIRS PREPEND -isystem OUTPUT_VARIABLE toolkit) # nvcc has it
    set(cuc ${CUDAToolkit_NVCC_EXECUTABLE})
    set(lab_link ${cuc} -arch=${PEERLAB_CUDA_ARCH})
    list(APPEND lab_libs -lpthread -ldl -lrt -lm
         -Xlinker --as-needed -lcuda) # the driver's own library: for what uses it only
    set(lab_cuda_flags -arch=${PEERLAB_CUDA_ARCH})
    if(PEERLAB_NVCC) # as vgpu-run does: the virtual node's libraries are found in NVIDIA's place
      list(APPEND lab_link -cudart shared -Xlinker -rpath=${CMAKE_LIBRARY_OUTPUT_DIRECTORY})
      list(APPEND lab_libs ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/libcudart.so) # labrun asks for more
      list(APPEND lab_cuda_flags -lineinfo)
    endif()
  endif()
  # -O1: a learner waits for it, and it takes two thirds of the time of -O2; what must be fast runs on
  # GPUs.
  set(lab_cc ${CMAKE_C_COMPILER} -std=gnu11 -D_GNU_SOURCE= ${c_flags} -O1 -g ${pic} -Wall -Wextra
      ${lab_c_checks} ${PEERLAB_SANITIZE_HOST} ${includes}
      ${toolkit})
  list(JOIN pic "," pic)
  set(lab_cuda_words -std=c++17 ${cxx_flags} -g ${lab_cuda_flags} -Xcompiler ${pic},-Wall${lab_cuda_checks}
      ${PEERLAB_SANITIZE_CUDA})
  set(lab_cuc ${cuc} ${lab_cuda_words} ${includes})
endmacro()

# What vgpu-cc reads in front of every .cu file, precompiled for the labs' options: the target
# lab-prelude. `depends` gets what a lab's .cu file is compiled after.
macro(_lab_prelude)
  list(APPEND depends vgpu-cc)
  if(NOT PEERLAB_NVCC)
    if(NOT TARGET lab-prelude)
      add_custom_command(
        OUTPUT ${PROJECT_BINARY_DIR}/labs/prelude
        COMMAND vgpu-cc --precompile ${CMAKE_ARCHIVE_OUTPUT_DIRECTORY}/vgpu ${lab_cuda_words}
        COMMAND ${CMAKE_COMMAND} -E touch ${PROJECT_BINARY_DIR}/labs/prelude
        DEPENDS vgpu-cc
        COMMENT "Precompiling CUDA's headers for the labs"
        VERBATIM)
      add_custom_target(lab-prelude DEPENDS ${PROJECT_BINARY_DIR}/labs/prelude)
    endif()
    list(APPEND depends lab-prelude)
  endif()
endmacro()

# What a student's runner takes the other TODOs' functions from; empty where there is nothing.
macro(_lab_reference)
  set(lab_reference ${work}/reference.o)
  if(LAB_HANDOUT)
    set(lab_reference ${PROJECT_SOURCE_DIR}/reference/${CMAKE_SYSTEM_PROCESSOR}/${folder}.o)
    if(NOT EXISTS ${lab_reference} OR NOT PEERLAB_BACKEND STREQUAL "vgpu")
      message(STATUS "lab ${folder}: a task's tests need the tasks before it: there is no ${lab_reference} "
        "for this machine and back end")
      set(lab_reference)
    endif()
  endif()
endmacro()

macro(_lab_conf)
  _lab_tools()
  set(lab_given_objects)
  foreach(source IN LISTS LAB_GIVEN)
    list(APPEND lab_given_objects ${work}/given-${source}.o)
  endforeach()
  foreach(source IN LISTS lab_uses)
    string(REPLACE "/" "-" name ${source})
    list(APPEND lab_given_objects ${work}/${name}.o)
  endforeach()
  list(APPEND lab_given_objects ${lab_used_objects})
  list(TRANSFORM LAB_CLOSED REPLACE "(.+)" "${work}/given-\\1.o" OUTPUT_VARIABLE lab_closed_objects)
  _lab_words(conf_closed ${lab_closed_objects})
  _lab_words(conf_nm ${PEERLAB_NM})
  _lab_words(conf_cc ${lab_cc})
  _lab_words(conf_cuc ${lab_cuc})
  _lab_words(conf_link ${lab_link})
  _lab_words(conf_libs ${lab_libs})
  _lab_words(conf_given ${work}/adapters.o ${lab_given_objects})
  _lab_words(conf_program_given ${lab_given_objects})
  set(conf_strict)
  if(PEERLAB_WERROR)
    set(conf_strict -Werror)
  endif()
  list(JOIN LAB_FUNCTIONS " " conf_functions)
  list(JOIN LAB_NEEDS " " conf_needs)
  list(JOIN LAB_WATCHED " " conf_watched)
  string(PREPEND conf_watched "malloc calloc realloc ")
  set(lab_conf ${work}/lab.conf)
  configure_file(${PEERLAB_HARNESS_DIR}/cmake/lab.conf.in ${lab_conf} @ONLY)
endmacro()

# _lab_object(SOURCE OBJECT strict|compile|without [TODO])
function(_lab_object source object how)
  set(depends ${source} ${lab_conf} ${_lab_cc})
  if(source MATCHES "\\.cu$" AND TARGET vgpu-cc)
    _lab_prelude()
  endif()
  cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE shown)
  add_custom_command(
    OUTPUT ${object}
    COMMAND sh ${_lab_cc} ${lab_conf} ${how} ${ARGN} ${source} ${object} ${object}.d
    DEPENDS ${depends}
    DEPFILE ${object}.d
    COMMENT "Compiling ${shown}"
    VERBATIM)
endfunction()

# Where runners are put, which only verifiers start: beside the folder of the programs that people
# type.
function(peerlab_runners variable)
  cmake_path(GET CMAKE_RUNTIME_OUTPUT_DIRECTORY PARENT_PATH parent)
  file(MAKE_DIRECTORY ${parent}/runners)
  set(${variable} ${parent}/runners PARENT_SCOPE)
endfunction()

# _lab_runner(OBJECT TODO OUTPUT)
function(_lab_runner object todo output)
  set(depends ${object} ${lab_reference} ${work}/adapters.o ${lab_given_objects} ${work}/traps.o
      ${lab_conf} ${_lab_cc} labrun)
  if(PEERLAB_NVCC)
    list(APPEND depends cudart)
  elseif(TARGET vgpurt)
    list(APPEND depends vgpurt vgpu_common)
  endif()
  cmake_path(GET output FILENAME shown)
  add_custom_command(
    OUTPUT ${output}
    COMMAND sh ${_lab_cc} ${lab_conf} runner ${object} ${todo} ${output}
    DEPENDS ${depends}
    COMMENT "Linking ${shown}"
    VERBATIM)
endfunction()

# _lab_program(OBJECT OUTPUT): the lab's own main, where it has one.
function(_lab_program object output)
  set(depends ${object} ${work}/program.o ${lab_given_objects} ${lab_conf} labrun)
  if(PEERLAB_NVCC)
    list(APPEND depends cudart)
  elseif(TARGET vgpurt)
    list(APPEND depends vgpurt vgpu_common)
  endif()
  cmake_path(GET output FILENAME shown)
  add_custom_command(
    OUTPUT ${output}
    COMMAND sh ${_lab_cc} ${lab_conf} program ${object} ${work}/program.o ${output}
    DEPENDS ${depends}
    COMMENT "Linking ${shown}"
    VERBATIM)
endfunction()

# The trusted side: lab03-check and, with hidden tests, lab03-check-hidden. lab03-check-timed asks no
# test but how long the lab's timed task takes (./lab grade --leaderboard).
macro(_lab_verifiers)
  set(lab_about ${work}/about.c)
  set(about_functions)
  foreach(entry IN LISTS LAB_FUNCTIONS)
    string(REGEX REPLACE "^([0-9]+):(.*)$" "    {\\1, \"\\2\"},\n" line "${entry}")
    string(APPEND about_functions "${line}")
  endforeach()
  set(about_needs)
  foreach(entry IN LISTS LAB_NEEDS)
    string(REGEX REPLACE "^([0-9]+):(.*)$" "    {\\1, \"\\2\"},\n" line "${entry}")
    string(APPEND about_needs "${line}")
  endforeach()
  configure_file(${PEERLAB_HARNESS_DIR}/cmake/about.c.in ${lab_about} @ONLY)
  _lab_verifier(lab${LAB_NUMBER}-check ${student}/tests/public.c)
  if(EXISTS ${solution}/tests/hidden.c)
    _lab_verifier(lab${LAB_NUMBER}-check-hidden ${solution}/tests/hidden.c)
  endif()
  if(EXISTS ${student}/tests/timed.c)
    _lab_verifier(lab${LAB_NUMBER}-check-timed ${student}/tests/timed.c)
  endif()
endmacro()

function(_lab_verifier target source)
  add_executable(${target} ${source} ${lab_about})
  target_include_directories(${target} PRIVATE ${student} ${student}/tests)
  if(PEERLAB_BACKEND STREQUAL "vgpu")
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/vgpu/include)
  else()
    target_include_directories(${target} SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
  endif()
  set_target_properties(${target} PROPERTIES C_EXTENSIONS ON)
  target_link_libraries(${target} PRIVATE labcheck)
endfunction()

# What every test needs to be there besides its verifier and runner.
function(_lab_needs target)
  add_dependencies(${target} labrun lab${LAB_NUMBER}-check)
  set(all lab${LAB_NUMBER}-check-hidden lab${LAB_NUMBER}-check-timed vgpu-node vgpu-exec vgpu-smi)
  if(PEERLAB_NVCC)
    list(APPEND all cudart vgpu-cc) # its programs find one by its name, and that runs the other
  endif()
  foreach(needed IN LISTS all)
    if(TARGET ${needed})
      add_dependencies(${target} ${needed})
    endif()
  endforeach()
endfunction()

# What the reference's programs and the learner's share.
macro(_lab_parts)
  set(adapters ${student}/tests/runner.c)
  if(EXISTS ${student}/tests/runner.cu)
    set(adapters ${student}/tests/runner.cu)
  endif()
  set(bin ${CMAKE_RUNTIME_OUTPUT_DIRECTORY})
  peerlab_runners(runners)
  _lab_object(${adapters} ${work}/adapters.o strict)
  foreach(source IN LISTS LAB_GIVEN)
    _lab_object(${student}/${source} ${work}/given-${source}.o strict)
  endforeach()
  foreach(source IN LISTS lab_uses)
    string(REPLACE "/" "-" name ${source})
    _lab_object(${PROJECT_SOURCE_DIR}/${source} ${work}/${name}.o compile)
  endforeach()
  if(LAB_PROGRAM)
    cmake_path(GET LAB_PROGRAM STEM program)
    _lab_object(${student}/${LAB_PROGRAM} ${work}/program.o strict)
  endif()
  add_custom_command(
    OUTPUT ${work}/doors ${work}/traps.o
    COMMAND sh ${_lab_cc} ${lab_conf} doors ${work}/doors
    COMMAND sh ${_lab_cc} ${lab_conf} traps ${work}/traps.o
    DEPENDS ${work}/adapters.o ${lab_given_objects} ${lab_conf} ${_lab_cc}
            ${PEERLAB_HARNESS_DIR}/cmake/reach.awk
    VERBATIM)
endmacro()

macro(_lab_solution)
  _lab_object(${solution}/${LAB_FILE} ${work}/reference.o strict)
  _lab_runner(${work}/reference.o 0 ${runners}/solution${LAB_NUMBER}-run)
  set(outputs ${runners}/solution${LAB_NUMBER}-run)
  if(LAB_PROGRAM)
    _lab_program(${work}/reference.o ${bin}/solution${LAB_NUMBER}-${program})
    list(APPEND outputs ${bin}/solution${LAB_NUMBER}-${program})
  endif()
  add_custom_target(solution${LAB_NUMBER}-programs DEPENDS ${outputs})
  if(PEERLAB_BACKEND STREQUAL "vgpu" AND NOT PEERLAB_NVCC) # submissions are graded there only
    _lab_without_answers()
  endif()
  add_custom_target(solution${LAB_NUMBER} ALL DEPENDS ${outputs})
  add_dependencies(solution${LAB_NUMBER} solution${LAB_NUMBER}-programs)
  _lab_needs(solution${LAB_NUMBER})
  _lab_register(solution${LAB_NUMBER} ${student}/tests/public.c lab${LAB_NUMBER}-check solution public
                ${runners}/solution${LAB_NUMBER}-run ${solution}/${LAB_FILE})
  if(TARGET lab${LAB_NUMBER}-check-hidden)
    _lab_register(solution${LAB_NUMBER}.hidden ${solution}/tests/hidden.c lab${LAB_NUMBER}-check-hidden solution
                  hidden ${runners}/solution${LAB_NUMBER}-run ${solution}/${LAB_FILE})
  endif()
  _lab_build_fixture(solution${LAB_NUMBER} solution ${solution}/${LAB_FILE})
endmacro()

# The numbers of the TODOs whose answers a submission's TODO is linked with, as "1,4": what it may
# call, what its tests use, and what these may call in their turn.
function(_lab_kept variable todo)
  list(TRANSFORM LAB_BESIDE REPLACE "^(${todo}):" "own:" OUTPUT_VARIABLE beside)
  list(FILTER beside INCLUDE REGEX "^own:")
  list(TRANSFORM beside REPLACE "^own:" "${todo}:")
  set(kept)
  set(look ${todo})
  while(look)
    list(POP_FRONT look number)
    foreach(entry IN LISTS LAB_NEEDS beside)
      string(REGEX REPLACE "^${number}:" "" name ${entry})
      foreach(function IN LISTS LAB_FUNCTIONS)
        if(function MATCHES "^([0-9]+):${name}$" AND NOT CMAKE_MATCH_1 IN_LIST kept
           AND NOT CMAKE_MATCH_1 EQUAL todo)
          list(APPEND kept ${CMAKE_MATCH_1})
          list(APPEND look ${CMAKE_MATCH_1})
        endif()
      endforeach()
    endforeach()
  endwhile()
  list(JOIN kept "," kept)
  if(kept STREQUAL "")
    set(kept none)
  endif()
  set(${variable} ${kept} PARENT_SCOPE)
endfunction()

# What submissions are linked with: without-K.o has the solution's answers to what the tests of
# TODO(K) need, and no other.
macro(_lab_without_answers)
  cmake_path(GET PEERLAB_HARNESS_DIR PARENT_PATH peerlab) # not always the project's: tests have one of their own
  set(todos ${LAB_FUNCTIONS})
  list(TRANSFORM todos REPLACE ":.*$" "")
  list(REMOVE_DUPLICATES todos)
  foreach(todo IN LISTS todos)
    _lab_kept(kept ${todo})
    set(without ${work}/without-${todo}/${LAB_FILE})
    add_custom_command(
      OUTPUT ${without}
      COMMAND ${CMAKE_COMMAND} -E chdir ${peerlab} ${Python3_EXECUTABLE} -B
              -m grader.course.strip ${kept} ${solution}/${LAB_FILE} ${without}
      DEPENDS ${solution}/${LAB_FILE} ${peerlab}/grader/course/strip.py
      VERBATIM)
    _lab_object(${without} ${work}/without-${todo}.o without ${todo})
    list(APPEND outputs ${work}/without-${todo}.o)
  endforeach()
endmacro()

macro(_lab_student)
  _lab_object(${student}/${LAB_FILE} ${work}/student.o compile)
  set(outputs)
  set(todos ${LAB_FUNCTIONS})
  list(TRANSFORM todos REPLACE ":.*$" "")
  list(REMOVE_DUPLICATES todos)
  if(NOT lab_reference)
    _lab_runner(${work}/student.o 0 ${runners}/lab${LAB_NUMBER}-run)
    list(APPEND outputs ${runners}/lab${LAB_NUMBER}-run)
    set(todos)
  else()
    list(PREPEND todos 0)
  endif()
  foreach(todo IN LISTS todos)
    _lab_runner(${work}/student.o ${todo} ${runners}/lab${LAB_NUMBER}-run-${todo})
    list(APPEND outputs ${runners}/lab${LAB_NUMBER}-run-${todo})
  endforeach()
  if(LAB_PROGRAM)
    _lab_program(${work}/student.o ${bin}/${program})
    list(APPEND outputs ${bin}/${program})
  endif()
  add_custom_target(lab${LAB_NUMBER} DEPENDS ${outputs})
  _lab_needs(lab${LAB_NUMBER})
  if(NOT LAB_HANDOUT)
    add_dependencies(lab${LAB_NUMBER} solution${LAB_NUMBER})
  endif()
  _lab_for_editors()
  _lab_register(lab${LAB_NUMBER} ${student}/tests/public.c lab${LAB_NUMBER}-check learner public
                ${runners}/lab${LAB_NUMBER}-run ${student}/${LAB_FILE})
  _lab_build_fixture(lab${LAB_NUMBER} learner ${student}/${LAB_FILE})
  _lab_written(lab${LAB_NUMBER})
  _lab_ctest_from(${PROJECT_SOURCE_DIR}/labs/${LAB_NUMBER}-${LAB_NAME})
endmacro()

# Never built: it puts the learner's file into compile_commands.json, where editors look.
macro(_lab_for_editors)
  if(LAB_FILE MATCHES "\\.c$")
    add_library(lab${LAB_NUMBER}-editor OBJECT EXCLUDE_FROM_ALL ${student}/${LAB_FILE})
    target_include_directories(lab${LAB_NUMBER}-editor
                               PRIVATE ${PEERLAB_HARNESS_DIR} ${lab_used_headers})
    if(PEERLAB_BACKEND STREQUAL "vgpu")
      target_include_directories(lab${LAB_NUMBER}-editor PRIVATE ${PROJECT_SOURCE_DIR}/vgpu/include)
    else()
      target_include_directories(lab${LAB_NUMBER}-editor SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
    endif()
  endif()
endmacro()

function(peerlab_vgpu_program name)
  cmake_parse_arguments(PROGRAM "" "" "SOURCES;FLAGS;LIBRARIES" ${ARGN})
  set(output ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/${name})
  list(TRANSFORM PROGRAM_SOURCES REPLACE "^([^/].*)$" "${CMAKE_CURRENT_SOURCE_DIR}/\\1")
  list(TRANSFORM PROGRAM_LIBRARIES PREPEND "-l" OUTPUT_VARIABLE libraries)
  separate_arguments(flags UNIX_COMMAND
                     "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${PEERLAB_BUILD_TYPE}}")
  peerlab_glob(headers *.h) # those of vgpu/include are vgpu-cc's
  add_custom_command(
    OUTPUT ${output}
    COMMAND vgpu-cc -D_GNU_SOURCE ${flags} ${PEERLAB_SANITIZE_CUDA} ${PROGRAM_FLAGS} -o ${output} ${PROGRAM_SOURCES} ${libraries}
    DEPENDS vgpu-cc vgpurt vgpu_common ${PROGRAM_LIBRARIES} ${PROGRAM_SOURCES} ${headers}
    COMMENT "Building ${name} with vgpu-cc"
    VERBATIM)
  set(all)
  if(PEERLAB_PROGRAMS)
    set(all ALL)
  endif()
  add_custom_target(${name} ${all} DEPENDS ${output})
  add_dependencies(${name} vgpu-node vgpu-exec) # to run it
endfunction()

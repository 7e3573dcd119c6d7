# SPDX-License-Identifier: MIT
# after_tests.cmake: ctest runs this after the tests (ctest_custom.cmake.in): it shows why a
# learner's tests failed, which ctest itself does with --output-on-failure only. Run in the build
# tree with -D RESULTS=. What is older than the lab's build in this run was not run in it.
set(SHOWN 3) # failures in full; ctest names all of them

function(_show_record name)
  file(READ ${RESULTS}/${name}.json text)
  string(JSON title ERROR_VARIABLE unknown GET "${text}" title)
  message("\n${name}  ${title}")
  set(fields message explained said why where next)
  set(labels what found said why where next) # as the verifier's own text has them
  foreach(field label IN ZIP_LISTS fields labels)
    string(JSON value ERROR_VARIABLE unknown GET "${text}" ${field})
    if(unknown OR value STREQUAL "")
      continue()
    endif()
    string(REPLACE "\n" "\n         " value "${value}")
    string(SUBSTRING "${label}       " 0 7 label)
    message("  ${label}${value}")
  endforeach()
endfunction()

set(log Testing/Temporary/LastTestsFailed.log) # where nothing has failed, that of a run before
if(NOT EXISTS ${log} OR ${RESULTS}/begun IS_NEWER_THAN ${log})
  return()
endif()
file(STRINGS ${log} failed REGEX ":(build\\.|written\\.)?lab[0-9][0-9]")
set(shown 0)
foreach(entry IN LISTS failed)
  string(REGEX REPLACE "^[0-9]+:" "" name "${entry}")
  string(REGEX MATCH "lab[0-9][0-9]" lab "${name}")
  if(EXISTS ${RESULTS}/${name}.txt)
    file(READ ${RESULTS}/${name}.txt text)
    message("\n${name}\n${text}")
  elseif(shown LESS SHOWN AND ${RESULTS}/${name}.json IS_NEWER_THAN ${RESULTS}/build.${lab}.txt)
    _show_record(${name})
    math(EXPR shown "${shown} + 1")
  endif()
endforeach()

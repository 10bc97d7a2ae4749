# Included by ctest in place of the file that gtest_discover_tests() writes: declares the tests of PROGRAM in
# groups of up to MOST of a suite, because starting a program under the sanitizers takes longer than most
# tests. Small suites that follow each other are one group, with the name of the first.
#
# The including file sets PROGRAM, NAME, TIMEOUT, LABELS, MOST, ENVIRONMENT, LEFT_OUT (the tests that aren't
# run) and FIRST (the suites that take longest, with which ctest begins). The last three may be empty, but
# have to be set, because ctest reads all such files in one scope.

list(JOIN LEFT_OUT ":" left_out)
execute_process(COMMAND ${PROGRAM} --gtest_list_tests --gtest_filter=-${left_out} RESULT_VARIABLE failed OUTPUT_VARIABLE listed ERROR_QUIET)
if(failed)
  # Like gtest_discover_tests(): a program that isn't built gives a failing test.
  add_test(${NAME}_NOT_BUILT ${NAME}_NOT_BUILT)
  return()
endif()

function(add_group suite number tests)
  if(MOST EQUAL 1)
    set(group "${NAME}.${tests}")
  else()
    string(REGEX REPLACE "\\.$" "" group "${NAME}.${suite}")
    if(number GREATER 0)
      string(APPEND group ".${number}")
    endif()
  endif()
  list(JOIN tests ":" filter)
  add_test(${group} ${PROGRAM} --gtest_filter=${filter})
  # A group is skipped if all of its tests are: ctest looks at this expression before it looks at the exit status.
  # GoogleTest prints a failed test after the skipped ones.
  set_tests_properties(
    ${group}
    PROPERTIES TIMEOUT ${TIMEOUT} LABELS "${LABELS}" ENVIRONMENT "${ENVIRONMENT}"
               SKIP_REGULAR_EXPRESSION "\\[  PASSED  \\] 0 tests\\.\n(\\[  SKIPPED \\] [^\n]*\n)+$")
  string(REGEX REPLACE "\\.$" "" name "${suite}")
  list(FIND FIRST "${name}" place)
  if(NOT place EQUAL -1)
    set_tests_properties(${group} PROPERTIES COST 1000)
  endif()
endfunction()

string(REGEX REPLACE "\n$" "" listed "${listed}")
string(REPLACE ";" "," listed "${listed}")
string(REPLACE "\n" ";" listed "${listed}")
set(suite "")
set(number 0)
set(tests "")
set(first "")
foreach(line ${listed} "end.")
  string(REGEX REPLACE " *#.*$" "" line "${line}")
  if(line MATCHES "^  (.+)$" AND suite)
    list(APPEND tests "${suite}${CMAKE_MATCH_1}")
  endif()
  list(LENGTH tests count)
  set(new_suite FALSE)
  if(line MATCHES "^[^ ]+\\.$")
    set(new_suite TRUE)
  endif()
  math(EXPR few "${MOST} / 2")
  # A suite of FIRST is a group by itself.
  string(REGEX REPLACE "\\.$" "" ended "${suite}")
  string(REGEX REPLACE "\\.$" "" begun "${line}")
  list(FIND FIRST "${ended}" ended_first)
  list(FIND FIRST "${begun}" begun_first)
  if(count EQUAL MOST
     OR (new_suite
         AND count GREATER 0
         AND (count GREATER few
              OR line STREQUAL "end."
              OR ended_first GREATER -1
              OR begun_first GREATER -1)))
    add_group("${first}" ${number} "${tests}")
    math(EXPR number "${number} + 1")
    set(tests "")
    set(count 0)
  endif()
  if(new_suite)
    set(suite "${line}")
    if(count EQUAL 0)
      set(first "${line}")
      set(number 0)
    endif()
  endif()
endforeach()

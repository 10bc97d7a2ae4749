# Declares the tests of PROGRAM once more for ctest, which includes this file, with OpenPBS's server as the
# host. If there is no OpenPBS, a single test is declared, which says so and is skipped.
set(NAME e2e_openpbs_test)
set(LABELS "e2e;openpbs")
set(ENVIRONMENT "PBS_E2E_HOST=openpbs")
set(TIMEOUT 300)
if("$ENV{PBSPOLICY_OPENPBS_PREFIX}" STREQUAL "")
  add_test(${NAME} ${PROGRAM})
  set_tests_properties(${NAME} PROPERTIES LABELS "${LABELS}" ENVIRONMENT "${ENVIRONMENT}" SKIP_REGULAR_EXPRESSION
                                          "PBSPOLICY_OPENPBS_PREFIX is not set")
  return()
endif()
set(MOST 1)
# LEFT_OUT has tests that fail on OpenPBS with pbs_sched, too. Arrays: qsub -W block may wait forever for an
# array that ends at once, and returns the exit status of the subjob that ended last. Reservations: the server
# refuses (15010) the reservation that it has requested itself for a job.
set(FIRST)
set(LEFT_OUT Arrays.BlockEndsWithTheArray Reservations.JobsMayAskForOneOfTheirOwn)
include("${CMAKE_CURRENT_LIST_DIR}/../../cmake/TestGroups.cmake")
# The tests of the ways in which the plugin can be attached, with the plugin in a process beside the server.
add_test(e2e_beside_test.HostAttributes ${PROGRAM} --gtest_filter=HostAttributes*)
set_tests_properties(e2e_beside_test.HostAttributes PROPERTIES TIMEOUT 900 LABELS "${LABELS}"
                                                               ENVIRONMENT "${ENVIRONMENT};PBS_E2E_ATTACHMENT=--beside")

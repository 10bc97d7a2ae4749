# Included by ctest with PROGRAM set: declares PROGRAM's tests with OpenPBS's server as the host, each by its
# name. Without an OpenPBS a single test says so.
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
# These tests fail on OpenPBS with pbs_sched, too: qsub may wait forever for an array that ends at once, and
# reports the status of the subjob that ended last; the server refuses the reservation that it requests itself
# (15010).
set(FIRST)
set(LEFT_OUT Arrays.BlockEndsWithTheArray Reservations.JobsMayAskForOneOfTheirOwn)
include("${CMAKE_CURRENT_LIST_DIR}/../../cmake/TestGroups.cmake")
# Tests about the ways in which the plugin is attached, with the plugin beside the server.
add_test(e2e_beside_test.HostAttributes ${PROGRAM} --gtest_filter=HostAttributes*)
set_tests_properties(e2e_beside_test.HostAttributes PROPERTIES TIMEOUT 900 LABELS "${LABELS}"
                                                               ENVIRONMENT "${ENVIRONMENT};PBS_E2E_ATTACHMENT=--beside")

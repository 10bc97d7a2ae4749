# ctest includes this file. It declares the tests of PROGRAM once more, with OpenPBS's server as the host. If
# no OpenPBS is named, it declares a single test instead, which says so and is skipped.
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
# LEFT_OUT names tests that also fail on OpenPBS with pbs_sched. Arrays: qsub -W block may wait forever for an
# array that ends at once, and returns the exit status of the subjob that ended last. Reservations: a job may
# request a reservation for itself, but the server then refuses its own request (error 15010).
set(FIRST)
set(LEFT_OUT Arrays.BlockEndsWithTheArray Reservations.JobsMayAskForOneOfTheirOwn)
include("${CMAKE_CURRENT_LIST_DIR}/../../cmake/TestGroups.cmake")
# The tests of host attributes once more, with the plugin in a process beside the server, not inside it.
add_test(e2e_beside_test.HostAttributes ${PROGRAM} --gtest_filter=HostAttributes*)
set_tests_properties(e2e_beside_test.HostAttributes PROPERTIES TIMEOUT 900 LABELS "${LABELS}"
                                                               ENVIRONMENT "${ENVIRONMENT};PBS_E2E_ATTACHMENT=--beside")

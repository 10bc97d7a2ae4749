# These run real processes and wait for them.
pbs_test(
  host_runner_test
  LIBS
  pbs_host_runner
  fmt::fmt
  SOURCES
  runner_test.cc
  TIMEOUT
  120)

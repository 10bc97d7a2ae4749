# Tests that run real processes, and wait for them.
pbs_test(
  host_runner_test
  LIBS
  pbs_host_runner
  fmt::fmt
  SOURCES
  runner_test.cc
  TIMEOUT
  120)
pbs_test(
  host_house_test
  LIBS
  pbs_host_runner
  fmt::fmt
  SOURCES
  accounting_test.cc
  client_call_test.cc
  clock_test.cc
  control_group_test.cc
  daemonize_test.cc
  home_test.cc
  job_env_test.cc
  job_process_test.cc
  log_test.cc
  mail_test.cc
  mom_config_test.cc
  posix_test.cc
  process_tree_test.cc
  run_files_test.cc
  service_manager_test.cc
  staging_test.cc)

# Tests that kill whole servers, and use the commands that users have.
pbs_test(
  host_faults_test
  LIBS
  e2e_harness
  pbs_ifl_codec
  fmt::fmt
  SQLite::SQLite3
  SOURCES
  server_faults_test.cc
  TIMEOUT
  180
  LABELS
  e2e)
add_dependencies(host_faults_test pbs_server pbs_policy qmgr qsub qstat)

# A plugin for tests of the server without the policy plugin.
add_library(fifo_plugin MODULE EXCLUDE_FROM_ALL fifo_plugin.cc)
pbs_target_settings(fifo_plugin)
set_target_properties(fifo_plugin PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/bin)

pbs_test(
  host_server_test
  LIBS
  pbs_host
  pbs_cmds
  pbs_ifl_client
  pbs_ifl_codec
  PkgConfig::libuv
  SQLite::SQLite3
  fmt::fmt
  SOURCES
  array_indices_test.cc
  array_test.cc
  arrival_test.cc
  attributes_test.cc
  authorization_test.cc
  backup_test.cc
  block_answer_test.cc
  clients_test.cc
  commit_group_test.cc
  configuration_test.cc
  connection_owner_test.cc
  cycle_test.cc
  database_check_test.cc
  deadline_timer_test.cc
  depend_test.cc
  depend_value_test.cc
  equivalence_test.cc
  identity_test.cc
  in_slices_test.cc
  job_life_test.cc
  job_memory_test.cc
  job_name_test.cc
  job_state_test.cc
  limits_test.cc
  machine_load_test.cc
  manage_queue_test.cc
  manage_sched_test.cc
  message_test.cc
  munge_check_test.cc
  network_test.cc
  not_acted_on_test.cc
  occurrences_test.cc
  plugin_test.cc
  queue_rules_test.cc
  requests_test.cc
  routing_test.cc
  run_job_test.cc
  running_usage_test.cc
  scheduler_program_test.cc
  schema_test.cc
  select_spec_test.cc
  shared_text_test.cc
  status_diagnosis_test.cc
  test_start_test.cc
  weights_test.cc
  store_test.cc
  tls_network_test.cc
  users_test.cc
  values_test.cc)
target_compile_definitions(host_server_test PRIVATE PBS_FIFO_PLUGIN="$<TARGET_FILE:fifo_plugin>"
                                                    PBS_POLICY_PLUGIN="$<TARGET_FILE:pbs_policy>")
add_dependencies(host_server_test fifo_plugin pbs_policy)

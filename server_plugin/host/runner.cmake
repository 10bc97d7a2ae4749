# What runs jobs and what keeps the server's house: no event loop, no protocol, no objects.
pbs_library(
  pbs_host_runner
  accounting.cc
  client_call.cc
  clock.cc
  control_group.cc
  daemonize.cc
  daily_file.cc
  home.cc
  job_env.cc
  job_process.cc
  key_value.cc
  leftovers.cc
  log.cc
  mail.cc
  mom_config.cc
  posix.cc
  process_tree.cc
  run_files.cc
  runner.cc
  service_manager.cc
  shepherd.cc
  spawn.cc
  staging.cc
  terminal.cc
  warden.cc)
target_link_libraries(pbs_host_runner PUBLIC tl::expected PRIVATE pbs_posix fmt::fmt)

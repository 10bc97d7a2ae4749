# The library with the code that runs jobs, and with the code for PBS_HOME, the log and the accounting. It has
# no event loop, no protocol and no objects of the server.
pbs_library(
  pbs_host_runner
  base/accounting.cc
  base/client_call.cc
  base/clock.cc
  base/daemonize.cc
  base/daily_file.cc
  base/home.cc
  base/key_value.cc
  base/log.cc
  base/mail.cc
  base/mom_config.cc
  base/posix.cc
  base/service_manager.cc
  base/spawn.cc
  base/tcp_table.cc
  base/users.cc
  run/control_group.cc
  run/job_env.cc
  run/job_process.cc
  run/launch_message.cc
  run/launcher.cc
  run/launcher_process.cc
  run/leftovers.cc
  run/parse_signal.cc
  run/process_tree.cc
  run/run_files.cc
  run/runner.cc
  run/shepherd.cc
  run/staging.cc
  run/terminal.cc
  run/warden.cc)
target_link_libraries(pbs_host_runner PUBLIC pbs_values tl::expected PRIVATE pbs_posix fmt::fmt)

// The protocol between the runner and a running shepherd. State that has to survive the end of either process
// is in files (runner.h).
#pragma once

#include <sys/types.h>

#include <csignal>

namespace pbs::host {

// Wardens (warden.h) are copies of the launcher (launcher.h). The launcher is run as `pbs_shepherd --launcher
// HOME` with all signals blocked, so that no request below is lost, or kills a warden before the warden can
// read it.
inline constexpr const char* kLauncherArgument = "--launcher";

// The launcher's end of a socket to the runner (launch_message.h).
inline constexpr int kLauncherFd = 3;

// The bytes of the start's file that shepherd and warden lock for as long as they live.
inline constexpr off_t kShepherdByte = 0;
inline constexpr off_t kWardenByte = 1;

// Cleans up a start whose shepherd and warden were both killed: `pbs_shepherd --clean HOME JOB_ID RUN_COUNT`.
// The process is a warden without a shepherd. It is one of its own because the work may take long.
inline constexpr const char* kCleanerArgument = "--clean";

// The shepherd's end of a pipe to the runner. The shepherd writes "session=N" once the script runs, with
// "output_note=TEXT" if its output isn't at the requested path; or "error=TEXT" if it gives up before it has
// taken the permission to start (lines as in key_value.h).
inline constexpr int kShepherdNotifyFd = 3;

// Requests to the shepherd: real-time signals with a value, which a warden passes on. They mean: send the
// signal `value` to the job; terminate the job, with `value` seconds from TERM to KILL; set the limit of its
// walltime or cput to `value` seconds, or to none (-1); suspend the job; resume it.
inline int signal_request() {
    return SIGRTMIN + 1;
}
inline int terminate_request() {
    return SIGRTMIN + 2;
}
inline int walltime_request() {
    return SIGRTMIN + 3;
}
inline int cput_request() {
    return SIGRTMIN + 4;
}
inline int suspend_request() {
    return SIGRTMIN + 5;
}
inline int resume_request() {
    return SIGRTMIN + 6;
}

}  // namespace pbs::host

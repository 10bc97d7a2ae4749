// The protocol between the runner and the processes of a start: command lines, descriptors and signals. Data
// that has to survive the end of a process is in files (runner.h).
#pragma once

#include <sys/types.h>

#include <csignal>

namespace pbs::host {

// The launcher (launcher.h) is run as `pbs_shepherd --launcher HOME`. All signals are blocked in it, and so
// in the wardens (warden.h), which are copies of it. So a request to a warden (below) is never lost, and
// never kills a warden that can't read it yet.
inline constexpr const char* kLauncherArgument = "--launcher";

// The launcher's end of a socket to the runner (launch_message.h).
inline constexpr int kLauncherFd = 3;

// The bytes in the start's file that the shepherd and the warden lock while they live.
inline constexpr off_t kShepherdByte = 0;
inline constexpr off_t kWardenByte = 1;

// A cleaner is run as `pbs_shepherd --clean HOME JOB_ID RUN_COUNT`. It ends a start whose shepherd and warden
// were both killed, as a warden does after its shepherd was killed. It is a process of its own because the
// work may take long.
inline constexpr const char* kCleanerArgument = "--clean";

// The shepherd's end of a pipe to the runner. The shepherd writes "session=N" when the script runs, and
// "output_note=TEXT" if its output isn't at the requested path. It writes "error=TEXT" if it gives up before
// it has taken the permission to start. The lines are as in key_value.h.
inline constexpr int kShepherdNotifyFd = 3;

// Requests to the shepherd are real-time signals with a value, which the warden passes on. In this order they
// mean: send the signal `value` to the job; terminate the job, with `value` seconds from TERM to KILL; set
// the limit of its walltime to `value` seconds (-1: no limit); set the limit of its cput likewise; suspend
// the job; resume it.
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

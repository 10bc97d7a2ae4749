// How the runner and a shepherd talk while both live. All that has to last is in files, see runner.h.
#pragma once

#include <sys/types.h>

#include <csignal>

namespace pbs::host {

// Wardens (warden.h) are copies of the launcher (launcher.h), which is run as `pbs_shepherd --launcher HOME`
// with all signals blocked, so that none of the requests below is lost or kills a warden before it can read
// them.
inline constexpr const char* kLauncherArgument = "--launcher";

// The launcher's end of a socket to the runner (launch_message.h).
inline constexpr int kLauncherFd = 3;

// The shepherd is its warden's child. Of the file of the start each of the two locks a byte for its life.
inline constexpr off_t kShepherdByte = 0;
inline constexpr off_t kWardenByte = 1;

// To end what is left of a job may take long, so if both were killed a process does that too, a warden
// without a shepherd: `pbs_shepherd --clean HOME JOB_ID RUN_COUNT`.
inline constexpr const char* kCleanerArgument = "--clean";

// Its end of a pipe to the runner: "session=N" once the script runs, with "output_note=TEXT" if its output
// isn't where it was to be; "error=TEXT" if it gives up before it has taken the permission to start (lines as
// in key_value.h).
inline constexpr int kShepherdNotifyFd = 3;

// Real-time signals with a value, which a warden passes on: send the signal `value` to the job; terminate it,
// with `value` seconds from TERM to KILL; let its walltime or cput be `value` seconds, or without a limit
// (-1); suspend the job, and let it go on.
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

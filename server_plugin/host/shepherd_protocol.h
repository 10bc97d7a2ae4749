// How the runner and a shepherd talk while both live. All that has to last is in files, see runner.h.
#ifndef PBSPOLICY_HOST_SHEPHERD_PROTOCOL_H
#define PBSPOLICY_HOST_SHEPHERD_PROTOCOL_H

#include <csignal>

namespace pbs::host {

// A shepherd is run as `pbs_server --shepherd HOME JOB_ID RUN_COUNT`, with all signals blocked, so that none
// of the requests below is lost or kills it before it can read them.
inline constexpr const char* shepherd_argument = "--shepherd";

// What is left of a job whose shepherd was killed may take long to remove, and is removed as its owner, so it
// is done by a process too: `pbs_server --shepherd-clean USER UID GID DIRECTORY`.
inline constexpr const char* cleaner_argument = "--shepherd-clean";

// Its end of a pipe to the runner: "session=N" once the script runs, "error=TEXT" if it gives up before it
// has taken the permission to start (lines as in key_value.h).
inline constexpr int shepherd_notify_fd = 3;

// Real-time signals with a value: send the signal `value` to the job; terminate it, with `value` seconds from
// TERM to KILL.
inline int signal_request() {
    return SIGRTMIN + 1;
}
inline int terminate_request() {
    return SIGRTMIN + 2;
}

}  // namespace pbs::host

#endif

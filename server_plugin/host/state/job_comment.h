// The comments of jobs that tell what happens to them, in OpenPBS's words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server_plugin/host/state/job_state.h"
#include "server_plugin/host/state/objects.h"

namespace pbs::host {

// Sets the comment; an empty text unsets it.
void set_comment(Job& job, std::string_view text);
// "Job held by alice on Mon Nov 23 08:00:00 2026", with OpenPBS's words.
void set_held_comment(Job& job, std::string_view by, int64_t now);
// "Job Array Began at Mon Nov 23 at 08:00", with OpenPBS's words.
void set_began_comment(Job& array);
// Adds how the job has ended to its comment, if it has one, with OpenPBS's words: "... and finished", "...
// and failed", "... and exceeded resource walltime", "... and terminated by alice@host". Nothing is added to
// what says already that the job was terminated. `by` may be empty. Exit_status is set before.
void set_end_comment(Job& job, JobEvent end, std::string_view by);
// "Job run at Mon Nov 23 at 08:00 on (n1:ncpus=1)", cut off where OpenPBS cuts it off.
std::string run_comment(const Job& job, int64_t now);
// Tells why a job that is held or waits, or an array that has as many running subjobs as it may, doesn't
// start: no cycle looks at it, so none would tell it. The comment is unset when that is over. `before` is the
// job's state until now.
void comment_on_state(Job& job, char before);

}  // namespace pbs::host

// Comments of jobs that tell users what happens to the jobs, in OpenPBS's words.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server_plugin/host/state/job_state.h"
#include "server_plugin/host/state/objects.h"

namespace pbs::host {

// Sets the comment; an empty text unsets it.
void set_comment(Job& job, std::string_view text);
// Sets "Job held by alice on Mon Nov 23 08:00:00 2026".
void set_held_comment(Job& job, std::string_view by, int64_t now);
// Sets "Job Array Began at Mon Nov 23 at 08:00".
void set_began_comment(Job& array);
// Adds to a job's comment, if it has one, how the job has ended: "... and finished", "... and failed", "...
// and exceeded resource walltime", "... and terminated by alice@host". Adds nothing to a comment that says
// already that the job was terminated. `by` may be empty. REQUIRES: Exit_status is set.
void set_end_comment(Job& job, JobEvent end, std::string_view by);
// "Job run at Mon Nov 23 at 08:00 on (n1:ncpus=1)", cut off where OpenPBS cuts it off.
std::string run_comment(const Job& job, int64_t now);
// Sets the comment that says why a job that is held or waits, or an array with as many running subjobs as it
// may have, doesn't start: no cycle looks at it, so no cycle would tell. Unsets it when that is over.
// `before` is the job's state until now.
void comment_on_state(Job& job, char before);

}  // namespace pbs::host

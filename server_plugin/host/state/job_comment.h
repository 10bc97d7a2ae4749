// Sets the comments of jobs, which describe events to users in OpenPBS's words.
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
// Adds to a job's comment how the job has ended: "... and finished", "... and failed", "... and exceeded
// resource walltime", "... and terminated by alice@host". Adds nothing if the job has no comment, or if the
// comment already says that the job was terminated. `by`: who terminated the job; may be empty. REQUIRES:
// Exit_status is set.
void set_end_comment(Job& job, JobEvent end, std::string_view by);
// Returns "Job run at Mon Nov 23 at 08:00 on (n1:ncpus=1)", shortened as in OpenPBS.
std::string run_comment(const Job& job, int64_t now);
// Sets the comment of a job that is held or waits for its time, and of an array with as many running subjobs
// as it may have. No cycle considers such a job, so no cycle explains its wait. Unsets this comment when the
// reason is over. `before`: the letter of the job's last state.
void comment_on_state(Job& job, char before);

}  // namespace pbs::host

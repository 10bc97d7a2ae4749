// Names of jobs and destinations as users type them.
#pragma once

#include <string>
#include <string_view>

#include "ifl/cmds/error.h"

namespace pbs::cmds {

// A job's id as users type it: sequence[.parent_server[:port]][@current_server[:port]]
struct JobId {
    std::string sequence;  // digits; followed by "[...]" for an array job or subjob
    std::string parent;    // the server that made the job; empty: not given
    std::string server;    // the server to ask; empty: the default one
};

// Returns whether the text begins with a digit, as job identifiers do and queues don't.
bool is_job_id(std::string_view text);
Result<JobId> parse_job_id(std::string_view text);

// The identifier to send: the sequence, and the parent server if it was given; a server completes a bare
// sequence by its own name.
std::string sent_job_id(const JobId& id);

// The destination of a job as users type it: [queue][@server[:port]]
struct Destination {
    std::string queue;
    std::string server;
};
Result<Destination> parse_destination(std::string_view text);

// A job's name: 1 to 230 letters, digits, '-', '_', '+' and '.', in any order.
bool is_job_name(std::string_view name);

}  // namespace pbs::cmds

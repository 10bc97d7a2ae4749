// Asks a server for the facts that pbs_diag shows.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/client.h"
#include "ifl/cmds/error.h"

namespace pbs::diag {

/// Asks for a part of a server's diagnosis; parts are those of pbs_statdiagnosis() in ifl/pbs_ifl.h. An
/// error's message names the part; its status is the command's exit status.
cmds::Result<cmds::StatusList> ask_part(const cmds::Connection& connection, const std::string& part);

/// A comment of queued jobs, with "N" in place of each number, and the number of jobs that have it: jobs
/// whose comments differ only in amounts and dates count together.
struct Reason {
    std::string text;
    std::size_t jobs = 0;
};
/// Returns the comments of a server's queued jobs, the most frequent one first.
cmds::Result<std::vector<Reason>> ask_reasons(const cmds::Connection& connection);

/// Replaces each number in a comment by "N": "Not Running: N of N jobs". A digit within a word stays, as in a
/// queue's name.
std::string without_numbers(std::string_view comment);

}  // namespace pbs::diag

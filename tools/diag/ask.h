// What pbs_diag asks a server for.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/client.h"
#include "ifl/cmds/error.h"

namespace pbs::diag {

/// One part of what the server tells of itself, as pbs_statdiagnosis() in ifl/pbs_ifl.h names the parts. The
/// error's message names the part, its status is the command's exit status.
cmds::Result<cmds::StatusList> ask_part(const cmds::Connection& connection, const std::string& part);

/// How many queued jobs have each comment, with every number of it as "N", so that jobs that differ in
/// amounts and dates alone count together. The most frequent first.
struct Reason {
    std::string text;
    std::size_t jobs = 0;
};
cmds::Result<std::vector<Reason>> ask_reasons(const cmds::Connection& connection);

/// A comment with "N" in place of each number: "Not Running: N of N jobs". A digit within a word stays, as in
/// a queue's name.
std::string without_numbers(std::string_view comment);

}  // namespace pbs::diag

// qselect's command line.
#pragma once

#include <ctime>
#include <string>
#include <vector>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/error.h"

namespace pbs::cmds {

struct QselectOptions {
    AttrList criteria;
    std::string server;  // from -q queue@server
    std::string extend;  // "x" finished jobs too, "T" subjobs too
};

// Reads qselect's command line. `now` completes the dates of -a and -t.
Result<QselectOptions> parse_qselect_options(const std::vector<std::string>& arguments, std::time_t now);

}  // namespace pbs::cmds

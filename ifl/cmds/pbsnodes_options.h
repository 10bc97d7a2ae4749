// pbsnodes's command line.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ifl/cmds/error.h"
#include "ifl/cmds/options.h"

namespace pbs::cmds {

enum class NodesAction {
    show,          // the named hosts, or with -v vnodes
    show_all,      // -a
    show_host,     // -H: the vnodes of the named hosts
    list_marked,   // -l: the hosts that are down or offline
    offline,       // -o
    online,        // -r: clears offline
    clear,         // -c: clears offline and down
    down_exactly,  // -d: the named hosts are down, all others aren't
    comment,       // -C without -o or -r
};

struct PbsnodesOptions {
    NodesAction action = NodesAction::show;
    bool vnodes = false;        // -v
    bool summary = false;       // -S
    bool jobs = false;          // -j: with counts of jobs
    bool long_columns = false;  // -L: columns are not cut
    bool quiet = false;         // -q
    ListFormat format = ListFormat::text;
    std::string delimiter = "|";
    std::optional<std::string> comment;  // -C
    std::string server;                  // -s
    std::vector<std::string> names;
};

Result<PbsnodesOptions> parse_pbsnodes_options(const std::vector<std::string>& arguments);

extern const char* const kPbsnodesUsage;

}  // namespace pbs::cmds

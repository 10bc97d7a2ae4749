// Formats status lists as pbsnodes prints them. Does no input or output.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/pbsnodes_options.h"

namespace pbs::cmds {

// Vnodes with all attributes: one a line, or separated by the delimiter.
std::string nodes_text(const batch_status* nodes, const PbsnodesOptions& options);

// The output of -S: one line for each vnode; with -j, free and total amounts and jobs, whose ids are shown
// without `.server`.
std::string nodes_summary_heading(const PbsnodesOptions& options);
std::string nodes_summary(const batch_status* nodes, std::string_view server, const PbsnodesOptions& options);

// The output of -l: name, state and comment of the vnodes that are down or offline.
std::string marked_nodes_text(const batch_status* nodes);

// Returns whether the state of a vnode, such as "offline,job-busy", includes `state`.
bool has_state(const batch_status& node, std::string_view state);

// A node of the summary, with its jobs as a list.
struct NodeSummary {
    std::string name;
    std::string state = "--";
    std::string os = "--";
    std::string hardware = "--";
    std::string host = "--";
    std::string queue = "--";
    std::string comment = "--";
    std::string memory;  // total memory; with -j free/total
    std::string ncpus;
    std::string nmics;
    std::string ngpus;
    std::vector<std::string> jobs;  // each job once
};
NodeSummary summarize(const batch_status& node, bool with_free);

// The JSON documents of -F json.
std::string nodes_json(const batch_status* nodes, std::string_view server, std::string_view version,
                       long long now, const PbsnodesOptions& options);

}  // namespace pbs::cmds

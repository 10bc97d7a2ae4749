// qstat's command line.
#pragma once

#include <string>
#include <vector>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/error.h"
#include "ifl/cmds/options.h"

namespace pbs::cmds {

enum class QstatObject { jobs, queues, servers };

struct QstatOptions {
    QstatObject object = QstatObject::jobs;
    bool full = false;       // -f
    bool alternate = false;  // -a, -i, -r, -H, -T, -u, -n, -s, -G, -M: the format with requests and times
    bool estimated_start = false;  // -T
    bool percent = false;          // -p
    bool nodes = false;            // -n
    bool comments = false;         // -s
    bool one_line = false;         // -1
    bool wide = false;             // -w
    bool together = false;         // -E: all job identifiers in one request
    bool queue_limits = false;     // -q
    bool gigabytes = false;        // -G
    bool megawords = false;        // -M
    ListFormat format = ListFormat::text;
    std::string delimiter = "|";  // -D
    std::string extend;           // "x" finished jobs too, "t" subjobs too
    AttrList criteria;            // from -i, -r, -H, -u, -J
    std::vector<std::string> operands;
};

Result<QstatOptions> parse_qstat_options(const std::vector<std::string>& arguments);

extern const char* const kQstatUsage;

}  // namespace pbs::cmds

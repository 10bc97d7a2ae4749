// qdel's command line.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/cmds/error.h"

namespace pbs::cmds {

struct QdelOptions {
    bool force = false;              // -W force
    bool history = false;            // -x: finished jobs too
    std::optional<long long> mails;  // N of -W suppress_email=N; nullopt: not given
    std::vector<std::string> jobs;
};

Result<QdelOptions> parse_qdel_options(const std::vector<std::string>& arguments);

// The number of mails about deleted jobs that may be sent: from the command line, else the server's
// default_qdel_arguments ("-Wsuppress_email=N"), else 1000. -1 allows none; 0 counts as not given.
long long allowed_mails(const QdelOptions& options, std::string_view default_arguments);

// The extend string of the request for the `index`-th job (from 0): "nomail", "force" and "deletehist".
std::string qdel_extend(const QdelOptions& options, long long mails, std::size_t index);

}  // namespace pbs::cmds

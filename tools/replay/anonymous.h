// A record without the names of a site.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server_plugin/record/record_file.h"

namespace pbs::replay {

// The same record with other names in place of those of users, groups, queues, hosts and vnodes, and of the
// files and programs that the configuration names: the same one for the same name wherever it is, in the
// order that the names were in. Remarks and descriptions are left out. Run again, the new record decides what
// the old one decides; this is tried, and if it isn't so there is an error. If a record, run again, decides
// something else than it says, names are replaced in the texts of its decisions where they stand as words.
//
// Kept are the names of policies, schedulers, time windows, fairshare groups, resources and partitions, and
// values of resources other than host, vnode and select.
//
// Errors as those of read_record().
record::Result<std::string> anonymous(std::string_view text, std::string_view name,
                                      const std::optional<std::string>& time_zone = std::nullopt);

}  // namespace pbs::replay

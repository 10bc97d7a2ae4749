// Removes the names of a site from a record.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server_plugin/record/record_file.h"

namespace pbs::replay {

// Replaces the names of users, groups, queues, hosts and vnodes, and of the files and programs that the
// configuration names. A name has the same replacement everywhere, and the order of names stays. Remarks and
// descriptions are left out. The new record, run again, decides what the old one decides; this is checked,
// and is an error otherwise. If the old record, run again, decides something else than it says, names in the
// texts of its decisions are replaced where they stand as words.
//
// Names of policies, schedulers, time windows, fairshare groups, resources and partitions stay, and so do
// values of resources other than host, vnode and select.
//
// Errors are those of read_record().
record::Result<std::string> anonymous(std::string_view text, std::string_view name,
                                      const std::optional<std::string>& time_zone = std::nullopt);

}  // namespace pbs::replay

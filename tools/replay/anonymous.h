// Removes the names of a site from a record.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "server_plugin/record/record_file.h"

namespace pbs::replay {

// Replaces the names of users, groups, queues, hosts and vnodes, and of the files and programs that the
// configuration names. A name has the same replacement everywhere, and the order of names stays. Remarks and
// descriptions are left out. It is an error if a run of the new record decides something else than a run of
// the old one. If a run of the old record doesn't decide as the record says, names in the texts of the
// recorded decisions are replaced if they stand as words.
//
// In a quota's rule the names that match a pattern replace it. Names of policies, schedulers, time windows,
// fairshare groups, quotas and their rules, resources and partitions stay, and so do values of resources
// other than host, vnode, select and prefer.
//
// Errors are those of read_record().
record::Result<std::string> anonymous(std::string_view text, std::string_view name,
                                      const std::optional<std::string>& time_zone = std::nullopt);

// Replaces the names in the lines of a record, without a run of it. REQUIRES: the lines are those of a
// record.
std::string without_names(std::string_view text);

}  // namespace pbs::replay

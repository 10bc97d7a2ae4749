// Converts jobs and reservations, for several pages.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/calendar/reservation_times.h"
#include "tools/web/page.h"

namespace pbs::web {

/// A part of a job's place: CPUs of a vnode.
struct Place {
    std::string vnode;
    std::int64_t ncpus = 0;
};
/// Parses "(n1:ncpus=2:mem=1gb+n2:ncpus=1)+(n1:ncpus=1)"; vnodes are in the order of their first mention.
std::vector<Place> parse_exec_vnode(std::string_view text);

/// Job as JSON: id, name, owner, queue, state, ncpus, walltime (seconds), and the instants created, start and
/// estimated_start. Unknown values are null.
Json job_json(const batch_status& job);

/// Reads a duration such as 01:00:00 in seconds; nullopt: not set.
std::optional<std::int64_t> seconds_of(const attrl* attributes, std::string_view name,
                                       std::string_view resource);
/// Reads a whole number; nullopt: not set.
std::optional<std::int64_t> integer_of(const attrl* attributes, std::string_view name,
                                       std::string_view resource = "");

/// Returns the times of a reservation.
std::vector<calendar::ReservationTime> times_of(const attrl* reservation);

/// Asks for running jobs, with subjobs of arrays.
cmds::StatusList ask_running(Link& server);
/// Asks for jobs that have an expected start.
cmds::StatusList ask_expected(Link& server);
/// Asks for all jobs that haven't ended.
cmds::StatusList ask_all(Link& server);

}  // namespace pbs::web

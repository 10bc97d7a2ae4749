// Asks for jobs, and converts jobs and reservations to JSON, for several pages.
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

/// The CPUs of a vnode that a job has.
struct Place {
    std::string vnode;
    std::int64_t ncpus = 0;
};
/// Parses an exec_vnode such as "(n1:ncpus=2:mem=1gb+n2:ncpus=1)+(n1:ncpus=1)". Each vnode is there once, in
/// the order of first mention.
std::vector<Place> parse_exec_vnode(std::string_view text);

/// Returns a job as JSON: id, name, owner, queue, state, ncpus, walltime (seconds), and the instants created,
/// start and estimated_start. Unknown values are null.
Json job_json(const batch_status& job);

/// Reads a duration such as 01:00:00; nullopt: it isn't set.
std::optional<std::int64_t> seconds_of(const attrl* attributes, std::string_view name,
                                       std::string_view resource);
/// Reads a whole number; nullopt: it isn't set.
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

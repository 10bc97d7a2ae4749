// Jobs and reservations as several pages tell of them.
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

/// A part of a job's place: so many CPUs of a vnode.
struct Place {
    std::string vnode;
    std::int64_t ncpus = 0;
};
/// "(n1:ncpus=2:mem=1gb+n2:ncpus=1)+(n1:ncpus=1)", by vnode in the order of their first mention.
std::vector<Place> parse_exec_vnode(std::string_view text);

/// id, name, owner, queue, state, ncpus, walltime (seconds), and the instants created, start and
/// estimated_start; null is what isn't known.
Json job_json(const batch_status& job);

/// Seconds of a value such as 01:00:00; nullopt: there is none.
std::optional<std::int64_t> seconds_of(const attrl* attributes, std::string_view name,
                                       std::string_view resource);
/// A whole number; nullopt: there is none.
std::optional<std::int64_t> integer_of(const attrl* attributes, std::string_view name,
                                       std::string_view resource = "");

/// The times of a reservation, by its attributes.
std::vector<calendar::ReservationTime> times_of(const attrl* reservation);

/// Running jobs, subjobs of arrays too.
cmds::StatusList ask_running(Link& server);
/// Jobs of which the scheduler says when it expects to start them.
cmds::StatusList ask_expected(Link& server);
/// All jobs that haven't ended.
cmds::StatusList ask_all(Link& server);

}  // namespace pbs::web

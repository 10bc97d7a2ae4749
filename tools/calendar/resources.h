// Makes the diagram of a resource over time: how much of it jobs use, how much is planned for waiting jobs,
// and how much reservations have booked.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ifl/cmds/quota_counter.h"
#include "tools/calendar/site.h"

namespace pbs::calendar {

// The kinds of use of an amount: in use by jobs, planned for jobs that are expected to start (estimated), or
// booked by reservations.
enum class UseKind : std::uint8_t { in_use, planned, booked };
constexpr std::size_t kUseKinds = 3;

// The server, vnode or queue of whose resource a diagram is, or a quota's counter.
struct ResourceOwner {
    enum class Level : std::uint8_t { server, vnode, queue, quota };
    Level level = Level::server;
    std::string name{};             // name of the vnode, queue or quota; empty for the server
    std::string rule{};             // of a quota; empty: whichever has a counter
    std::vector<std::string> of{};  // of a counter: some of its values, as in "users=bob"
};

// The status replies from which a diagram is made. Attributes with resources have names such as
// "Resource_List.walltime".
struct ResourceAnswers {
    std::vector<ObjectText> jobs;
    std::vector<ObjectText> vnodes;
    std::vector<ObjectText> queues;
    std::vector<ObjectText> reservations;
    ObjectText server;
    std::vector<cmds::QuotaCounter> counters{};  // with their jobs
};

struct ResourceStep {
    rrule::Interval when;
    std::array<std::int64_t, kUseKinds> amounts{};  // by UseKind
};

struct ResourceDiagram {
    std::string resource;
    ResourceOwner owner;
    bool is_size = false;  // amounts are in bytes
    // resources_available of the owner, or else the sum of its vnodes; for a counter its limit, or nullopt if
    // it has none.
    std::optional<std::int64_t> total = 0;
    bool in_force = true;             // false: the limit of a counter doesn't hold now
    std::vector<ResourceStep> steps;  // without gaps between them; the amounts differ from step to step
};

// Makes the diagram of the range. Jobs of a reservation count as booked. A job without walltime uses its
// amounts for ever. Suspended jobs use what they haven't given back; when a time_window's opening lets them
// go on, their use is planned, also for jobs that run now and will be suspended at the window's end. `now`:
// the instant of the answers. The diagram of a quota's counter has the uses by the jobs that the server
// counts in it, in reservations or not. Errors: neither the server nor a vnode has the resource, or there is
// no such vnode or queue, or there isn't exactly one such counter.
Result<ResourceDiagram> make_diagram(const Site& site, const ResourceAnswers& answers,
                                     std::string_view resource, const ResourceOwner& owner,
                                     const rrule::Interval& range, rrule::Instant now);

// Formats the diagram for a terminal, a line for each step, with times in the site's zone; as JSON; and as a
// picture.
std::string to_text(const Site& site, const ResourceDiagram& diagram);
std::string to_json(const Site& site, const ResourceDiagram& diagram);
std::string to_svg(const Site& site, const ResourceDiagram& diagram);

}  // namespace pbs::calendar

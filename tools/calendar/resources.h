// The diagram of a resource over time: how much of it jobs use, is planned for waiting jobs, and is booked by
// reservations.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/calendar/site.h"

namespace pbs::calendar {

// Jobs use it; it is planned for jobs that are expected to start (estimated); or it is booked by
// reservations.
enum class UseKind : std::uint8_t { in_use, planned, booked };
constexpr std::size_t kUseKinds = 3;

// The server, one vnode or one queue.
struct ResourceOwner {
    enum class Level : std::uint8_t { server, vnode, queue };
    Level level = Level::server;
    std::string name{};  // of the vnode or queue
};

// The status replies for a diagram. Attributes with resources are named "Resource_List.walltime".
struct ResourceAnswers {
    std::vector<ObjectText> jobs;
    std::vector<ObjectText> vnodes;
    std::vector<ObjectText> queues;
    std::vector<ObjectText> reservations;
    ObjectText server;
};

struct ResourceStep {
    rrule::Interval when;
    std::array<std::int64_t, kUseKinds> amounts{};  // by UseKind
};

struct ResourceDiagram {
    std::string resource;
    ResourceOwner owner;
    bool is_size = false;    // amounts are in bytes
    std::int64_t total = 0;  // resources_available of the owner; where it has none, the sum of its vnodes
    std::vector<ResourceStep> steps;  // without gaps; amounts change from one to the next
};

// Makes the diagram of the range. Jobs of a reservation count as booked. A job without walltime uses its
// amounts for ever. Suspended jobs use nothing. Errors: nobody has the resource, or there is no such vnode or
// queue.
Result<ResourceDiagram> make_diagram(const ResourceAnswers& answers, std::string_view resource,
                                     const ResourceOwner& owner, const rrule::Interval& range);

// The diagram for a terminal, a line a step, with times in the site's zone; as JSON; and as a picture.
std::string to_text(const Site& site, const ResourceDiagram& diagram);
std::string to_json(const Site& site, const ResourceDiagram& diagram);
std::string to_svg(const Site& site, const ResourceDiagram& diagram);

}  // namespace pbs::calendar

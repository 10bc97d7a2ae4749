#include "server_plugin/openpbs/reservation.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "cluster/exec_vnode.h"
#include "cluster/server.h"
#include "ifl/attributes/execvnodes.h"
#include "ifl/attributes/reservation_start.h"
#include "rrule/series.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::openpbs {
namespace {

using cluster::amount_of;
using cluster::number_of;
using cluster::truth_of;
using cluster::value_of;

// Computes the reservation's occurrences after the present one, by the recurrence rule, as pbs_sched does.
void set_later(Reservation& one, const ifl::ObjectView& object, bool is_new) {
    constexpr std::size_t kMost = 10'000;
    const auto zone = rrule::Zone::find(value_of(object.attributes, "reserve_timezone"));
    if (!zone) {
        one.error = fmt::format("its time zone: {}", zone.error().message);
        return;
    }
    const auto at = [](std::int64_t seconds) { return rrule::Instant(rrule::Seconds(seconds)); };
    // The attribute with this name has the values of the later occurrences, if only the next one was altered.
    constexpr std::string_view kUnaltered = "reserve_standing_revert";
    const std::int64_t first = number_of(value_of(object.attributes, kUnaltered, "start_time"), one.start);
    const std::string_view length = value_of(object.attributes, kUnaltered, "walltime");
    const std::int64_t duration = length.empty() ? one.end - one.start : amount_of(PBS_RES_DURATION, length);
    one.later_select = value_of(object.attributes, kUnaltered, "select");
    const auto series = rrule::series(value_of(object.attributes, "reserve_rrule"), at(first), *zone, kMost);
    if (!series) {
        one.error = fmt::format("its recurrence rule: {}", series.error().message);
        return;
    }
    const std::int64_t all = number_of(value_of(object.attributes, "reserve_count"), 0);
    const std::int64_t index =
        std::max<std::int64_t>(number_of(value_of(object.attributes, "reserve_index"), 1), 1);
    const auto known = static_cast<std::int64_t>(series->starts.size());
    const std::int64_t left = all == 0 ? known : std::min(known, all - index + 1);
    const auto nodes = ifl::exec_vnodes_in(value_of(object.attributes, "reserve_execvnodes"), kMost);
    // reserve_execvnodes has the occurrences that were left when it was written. `passed` of them have passed
    // since.
    const std::int64_t passed = index - 1 - (all - static_cast<std::int64_t>(nodes.size()));
    if (is_new) {
        one.start = series->starts.front().time_since_epoch().count();
        one.end = one.start + duration;
    }
    for (std::int64_t i = 1; i < left; ++i) {
        const std::int64_t start = series->starts[static_cast<std::size_t>(i)].time_since_epoch().count();
        const auto place = static_cast<std::size_t>(std::max<std::int64_t>(passed + i, 0));
        one.later.push_back({start, start + duration, place < nodes.size() ? nodes[place] : std::string()});
    }
}

}  // namespace

Reservation reservation_of(const ifl::ObjectView& object, std::int64_t now) {
    // The numbers of OpenPBS's states of reservations.
    constexpr std::int64_t kUnconfirmed = 1;
    constexpr std::int64_t kDegraded = 10;
    constexpr std::int64_t kBeingAltered = 11;
    constexpr std::int64_t kInConflict = 12;
    Reservation one;
    one.queue = value_of(object.attributes, "queue");
    one.partition = cluster::partition_of(value_of(object.attributes, "partition"));
    const std::int64_t state = number_of(value_of(object.attributes, "reserve_state"), 0);
    const std::int64_t substate = number_of(value_of(object.attributes, "reserve_substate"), 0);
    const std::int64_t retry = number_of(value_of(object.attributes, "reserve_retry"), 0);
    const bool lacks_vnodes = substate == kDegraded || substate == kInConflict;
    one.asked =
        state == kUnconfirmed || state == kBeingAltered || (lacks_vnodes && retry != 0 && retry <= now);
    one.start = number_of(value_of(object.attributes, "reserve_start"), 0);
    one.end = number_of(value_of(object.attributes, "reserve_end"), 0);
    for (const ifl::AttributeView& attribute : object.attributes)
        if (attribute.name == "Resource_List") one.requested.emplace(attribute.resource, attribute.value);
    if (const std::string_view chunks = value_of(object.attributes, "schedselect"); !chunks.empty())
        one.requested.insert_or_assign("select", std::string(chunks));
    one.nodes = value_of(object.attributes, "resv_nodes");
    one.standing = truth_of(value_of(object.attributes, "reserve_standing"));
    one.one_altered = state == kBeingAltered;
    one.soonest = one.asked && one.start == ifl::kAsSoonAsPossible;
    if (one.soonest) {
        one.end = one.start + amount_of(PBS_RES_DURATION, value_of(object.attributes, "reserve_duration"));
    } else if (one.standing)
        set_later(one, object, state == kUnconfirmed);
    return one;
}

bool ByNumber::operator()(const std::string& a, const std::string& b) const {
    const auto number = [](std::string_view id) {
        return number_of(id.substr(0, id.find('.')).substr(id.empty() ? 0 : 1), 0);
    };
    return std::pair(number(a), std::string_view(a)) < std::pair(number(b), std::string_view(b));
}

void choose_asked(Reservation& reservation, const std::function<bool(const std::string&)>& is_there) {
    if (!reservation.asked || !reservation.standing || reservation.one_altered) return;
    const auto lacks = [&](const std::string& nodes) {
        const auto shares = cluster::shares_of(nodes);
        return shares.empty() || std::ranges::any_of(shares, [&](const cluster::Share& share) {
                   return !is_there(std::string(share.vnode));
               });
    };
    reservation.keeps_first = !lacks(reservation.nodes);
    bool any = !reservation.keeps_first;
    for (Reservation::Occurrence& one : reservation.later) {
        one.asked = lacks(one.nodes);
        any = any || one.asked;
    }
    // All vnodes exist and take jobs, but other reservations hold some of them. So find places for all
    // occurrences anew.
    if (any) return;
    reservation.keeps_first = false;
    for (Reservation::Occurrence& one : reservation.later) one.asked = true;
}

}  // namespace pbs::openpbs

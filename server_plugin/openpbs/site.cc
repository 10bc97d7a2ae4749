#include "server_plugin/openpbs/site.h"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

#include "ifl/attributes/execvnodes.h"
#include "ifl/attributes/reservation_start.h"
#include "ifl/pbs_error.h"
#include "rrule/series.h"
#include "server_plugin/openpbs/amount.h"
#include "server_plugin/openpbs/conf.h"
#include "server_plugin/openpbs/job.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::openpbs {
namespace {

// Those of OpenPBS's own resources that are times: their type is that of whole numbers.
constexpr std::array kDurations{"walltime",     "cput",         "pcput",        "soft_walltime",
                                "min_walltime", "max_walltime", "eligible_time"};

// OpenPBS's numbers of types, as it describes resources with them.
int kind_of(std::string_view name, std::int64_t type) {
    if (std::ranges::find(kDurations, name) != kDurations.end()) return PBS_RES_DURATION;
    switch (type) {
        case 3:
            return PBS_RES_STRING;
        case 4:
            return PBS_RES_STRING_ARRAY;
        case 5:
            return PBS_RES_SIZE;
        case 11:
            return PBS_RES_BOOLEAN;
        case 14:
            return PBS_RES_FLOAT;
        default:
            return PBS_RES_LONG;
    }
}

// OpenPBS's flags of a resource whose amounts are used up: "n", "f" and "q".
constexpr std::int64_t kConsumable = 0x4000 | 0x8000 | 0x10000;
// "h": it is of vnodes.
constexpr std::int64_t kHostLevel = 0x20000;

// What pbs_sched doesn't start jobs for. "job-busy" says no more than that all CPUs are in use.
constexpr std::array kDownStates{"down",         "stale", "state-unknown",     "unresolvable",
                                 "provisioning", "sleep", "wait-provisioning", "maintenance"};
constexpr std::array kOfflineStates{"offline", "offline_by_mom", "busy"};

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

void for_each_part(std::string_view text, const std::function<void(std::string_view)>& take) {
    while (!text.empty()) {
        const auto comma = text.find(',');
        if (const std::string_view part = trimmed(text.substr(0, comma)); !part.empty()) take(part);
        if (comma == std::string_view::npos) return;
        text.remove_prefix(comma + 1);
    }
}

bool is_one_of(std::string_view text, const auto& names) {
    return std::ranges::any_of(names, [&](const char* name) {
        return text.size() == std::string_view(name).size() &&
               strncasecmp(text.data(), name, text.size()) == 0;
    });
}

// A value that can't be read is none: the server wouldn't have taken it.
void add_entity_limits(const ifl::ObjectView& object, SiteLimits& limits) {
    for (const ifl::AttributeView& attribute : object.attributes) {
        const std::string_view name = attribute.name;
        const bool soft = name.ends_with("_soft");
        const bool of_entities = name == "max_run" || name == "max_run_soft" || name == "max_run_res" ||
                                 name == "max_run_res_soft";
        if (of_entities) {
            for (ifl::EntityLimit& limit :
                 ifl::parse_entity_limits(attribute.value).value_or(std::vector<ifl::EntityLimit>()))
                limits.entities.push_back({std::move(limit), std::string(attribute.resource), soft});
            continue;
        }
        const bool of_users = name.starts_with("max_user_");
        const bool of_groups = name.starts_with("max_group_");
        const bool is_told = name == "max_user_run" || name == "max_group_run";
        if (is_told || (!of_users && !of_groups)) continue;
        limits.entities.push_back(
            {{of_users ? 'u' : 'g', std::string(ifl::kGenericEntity), std::string(attribute.value)},
             std::string(attribute.resource),
             soft});
    }
}

SiteLimits limits_of(const ifl::ObjectView& object) {
    SiteLimits limits;
    limits.max_running = number_of(value_of(object, "max_running"), -1);
    limits.max_user_run = number_of(value_of(object, "max_user_run"), -1);
    limits.max_group_run = number_of(value_of(object, "max_group_run"), -1);
    add_entity_limits(object, limits);
    limits.max = resources_of(object, "resources_max");
    limits.min = resources_of(object, "resources_min");
    limits.available = resources_of(object, "resources_available");
    return limits;
}

ifl::Attributes named(std::initializer_list<const char*> names) {
    ifl::Attributes out;
    for (const char* name : names) out.push_back({name, {}, {}, ifl::Op::set});
    return out;
}

ifl::Result<void> ask(ifl::Connection& connection, ifl::RequestType type, std::string_view extend,
                      const std::function<void(const ifl::ObjectView&)>& take) {
    const auto lock = connection.lock();
    const auto reply = connection.request(type, ifl::Status{}, extend, take);
    if (!reply) return tl::unexpected(reply.error());
    if (reply->code == 0) return {};
    const auto* text = std::get_if<ifl::TextReply>(&reply->body);
    return tl::unexpected(ifl::Error{reply->code, text != nullptr ? text->text : "the server refuses"});
}

}  // namespace

void keep_execution_types(const std::map<std::string, SiteQueue>& before,
                          std::map<std::string, SiteQueue>& after) {
    for (auto& [name, queue] : after)
        if (const auto known = before.find(name); known != before.end())
            queue.execution_type = known->second.execution_type;
}

std::string_view value_of(const ifl::ObjectView& object, std::string_view name, std::string_view resource) {
    for (const ifl::AttributeView& attribute : object.attributes)
        if (attribute.name == name && attribute.resource == resource) return attribute.value;
    return {};
}

ResourceList resources_of(const ifl::ObjectView& object, std::string_view name) {
    ResourceList out;
    for (const ifl::AttributeView& attribute : object.attributes)
        if (attribute.name == name && !attribute.resource.empty())
            out.emplace(attribute.resource, attribute.value);
    return out;
}

SiteServer server_of(const ifl::ObjectView& object) {
    return {std::string(object.name),
            std::string(value_of(object, "server_host")),
            number_of(value_of(object, "backfill_depth"), -1),
            std::string(value_of(object, "job_sort_formula")),
            std::string(value_of(object, "node_group_key")),
            truth_of(value_of(object, "node_group_enable")),
            std::string(value_of(object, "restrict_res_to_release_on_suspend")),
            truth_of(value_of(object, "eligible_time_enable")),
            truth_of(value_of(object, "has_runjob_hook")),
            truth_of(value_of(object, "query_other_jobs")),
            limits_of(object)};
}

SiteQueue queue_of(const ifl::ObjectView& object) {
    SiteQueue one;
    one.execution = value_of(object, "queue_type") == "Execution";
    one.route = value_of(object, "queue_type") == "Route";
    one.started = truth_of(value_of(object, "started"));
    one.enabled = truth_of(value_of(object, "enabled"));
    one.user_acl = truth_of(value_of(object, "acl_user_enable"));
    one.priority = static_cast<std::int32_t>(number_of(value_of(object, "Priority"), 0));
    one.backfill_depth = number_of(value_of(object, "backfill_depth"), -1);
    one.partition = value_of(object, "partition");
    one.node_group_key = value_of(object, "node_group_key");
    for_each_part(value_of(object, "acl_users"),
                  [&](std::string_view user) { one.acl_users.emplace_back(user); });
    one.limits = limits_of(object);
    return one;
}

ifl::Attributes queue_attributes() {
    return named({"queue_type",         "started",           "enabled",
                  "acl_user_enable",    "acl_users",         "Priority",
                  "backfill_depth",     "partition",         "max_running",
                  "max_user_run",       "max_group_run",     "max_run",
                  "max_run_res",        "max_run_soft",      "max_run_res_soft",
                  "max_user_res",       "max_group_res",     "max_user_run_soft",
                  "max_group_run_soft", "max_user_res_soft", "max_group_res_soft",
                  "resources_max",      "resources_min",     "resources_available",
                  "node_group_key"});
}

SiteSched sched_of(const ifl::ObjectView& object) {
    const std::string_view partition = value_of(object, "partition");
    SiteSched one;
    one.scheduling = truth_of(value_of(object, "scheduling"));
    // What OpenPBS calls the partition of `default`.
    one.partition = partition == "pbs-default" ? std::string_view() : partition;
    one.sched_priv = value_of(object, "sched_priv");
    one.sched_log = value_of(object, "sched_log");
    one.preempt_order = value_of(object, "preempt_order");
    one.job_run_wait = value_of(object, "job_run_wait");
    one.attr_update_period = number_of(value_of(object, "attr_update_period"), 0);
    for (const char* name : {"do_not_span_psets", "job_sort_formula", "job_sort_formula_threshold",
                             "only_explicit_psets", "preempt_order", "preempt_prio", "preempt_queue_prio",
                             "preempt_sort", "sched_preempt_enforce_resumption"})
        if (const std::string_view value = value_of(object, name); !value.empty())
            one.settings.emplace(name, value);
    return one;
}

void note_resource(std::map<std::string, SiteResource>& resources, const ifl::ObjectView& object) {
    if (object.name.empty() || object.name.front() == '|') return;
    const std::int64_t flags = number_of(value_of(object, "flag"), 0);
    resources[std::string(object.name)] = {kind_of(object.name, number_of(value_of(object, "type"), 0)),
                                           (flags & kConsumable) != 0, (flags & kHostLevel) != 0};
}

// The times that follow the next one: those of the rule from that one on, as pbs_sched has them.
void set_later(SiteReservation& one, const ifl::ObjectView& object, bool is_new) {
    constexpr std::size_t kMost = 10'000;
    const auto zone = rrule::Zone::find(value_of(object, "reserve_timezone"));
    if (!zone) {
        one.error = fmt::format("its time zone: {}", zone.error().message);
        return;
    }
    const auto at = [](std::int64_t seconds) { return rrule::Instant(rrule::Seconds(seconds)); };
    // When this time was altered, the others are as they were.
    constexpr std::string_view kUnaltered = "reserve_standing_revert";
    const std::int64_t first = number_of(value_of(object, kUnaltered, "start_time"), one.start);
    const std::string_view length = value_of(object, kUnaltered, "walltime");
    const std::int64_t duration = length.empty() ? one.end - one.start : amount_of(PBS_RES_DURATION, length);
    one.later_select = value_of(object, kUnaltered, "select");
    const auto series = rrule::series(value_of(object, "reserve_rrule"), at(first), *zone, kMost);
    if (!series) {
        one.error = fmt::format("its recurrence rule: {}", series.error().message);
        return;
    }
    const std::int64_t all = number_of(value_of(object, "reserve_count"), 0);
    const std::int64_t index = std::max<std::int64_t>(number_of(value_of(object, "reserve_index"), 1), 1);
    const auto known = static_cast<std::int64_t>(series->starts.size());
    const std::int64_t left = all == 0 ? known : std::min(known, all - index + 1);
    const auto nodes = ifl::exec_vnodes_in(value_of(object, "reserve_execvnodes"), kMost);
    // The list is of those that were left when it was made.
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

SiteReservation reservation_of(const ifl::ObjectView& object, std::int64_t now) {
    // OpenPBS's numbers of states.
    constexpr std::int64_t kUnconfirmed = 1;
    constexpr std::int64_t kDegraded = 10;
    constexpr std::int64_t kBeingAltered = 11;
    constexpr std::int64_t kInConflict = 12;
    SiteReservation one;
    one.queue = value_of(object, "queue");
    one.partition = value_of(object, "partition");
    if (one.partition == "pbs-default") one.partition.clear();
    const std::int64_t state = number_of(value_of(object, "reserve_state"), 0);
    const std::int64_t substate = number_of(value_of(object, "reserve_substate"), 0);
    const std::int64_t retry = number_of(value_of(object, "reserve_retry"), 0);
    const bool lacks_vnodes = substate == kDegraded || substate == kInConflict;
    one.asked =
        state == kUnconfirmed || state == kBeingAltered || (lacks_vnodes && retry != 0 && retry <= now);
    one.start = number_of(value_of(object, "reserve_start"), 0);
    one.end = number_of(value_of(object, "reserve_end"), 0);
    one.requested = resources_of(object, "Resource_List");
    if (const std::string_view chunks = value_of(object, "schedselect"); !chunks.empty())
        one.requested["select"] = chunks;
    one.nodes = value_of(object, "resv_nodes");
    one.standing = truth_of(value_of(object, "reserve_standing"));
    one.one_altered = state == kBeingAltered;
    one.soonest = one.asked && one.start == ifl::kAsSoonAsPossible;
    if (one.soonest) {
        one.end = one.start + amount_of(PBS_RES_DURATION, value_of(object, "reserve_duration"));
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

void choose_asked(SiteReservation& reservation, const std::function<bool(const std::string&)>& is_there) {
    if (!reservation.asked || !reservation.standing || reservation.one_altered) return;
    const auto lacks = [&](const std::string& nodes) {
        const auto shares = shares_of(nodes);
        return shares.empty() ||
               std::ranges::any_of(shares, [&](const VnodeShare& share) { return !is_there(share.vnode); });
    };
    reservation.keeps_first = !lacks(reservation.nodes);
    bool any = !reservation.keeps_first;
    for (SiteReservation::Occurrence& one : reservation.later) {
        one.asked = lacks(one.nodes);
        any = any || one.asked;
    }
    // All are there, and others have them.
    if (any) return;
    reservation.keeps_first = false;
    for (SiteReservation::Occurrence& one : reservation.later) one.asked = true;
}

// "job-exclusive" lasts as long as the job that has the vnode for itself, and that job's place and the
// vnode's attribute `sharing` tell of it.
std::uint32_t vnode_state(std::string_view text) {
    std::uint32_t state = PBS_VNODE_FREE;
    for_each_part(text, [&](std::string_view part) {
        if (is_one_of(part, kDownStates)) state |= PBS_VNODE_DOWN;
        if (is_one_of(part, kOfflineStates)) state |= PBS_VNODE_OFFLINE;
    });
    return state;
}

std::uint32_t vnode_sharing(std::string_view text) {
    constexpr std::pair<std::string_view, pbs_vnode_sharing> kWords[] = {
        {"default_excl", PBS_VNODE_DEFAULT_EXCL}, {"default_exclhost", PBS_VNODE_DEFAULT_EXCLHOST},
        {"ignore_excl", PBS_VNODE_IGNORE_EXCL},   {"force_shared", PBS_VNODE_IGNORE_EXCL},
        {"force_excl", PBS_VNODE_FORCE_EXCL},     {"force_exclhost", PBS_VNODE_FORCE_EXCLHOST}};
    const auto* const known = std::ranges::find(kWords, text, [](const auto& word) { return word.first; });
    return known != std::end(kWords) ? known->second : PBS_VNODE_DEFAULT_SHARED;
}

SiteVnode vnode_of(const ifl::ObjectView& object) {
    SiteVnode one;
    one.available = resources_of(object, "resources_available");
    // What a vnode has now. Nobody else is asked to bring it into another environment.
    one.available["aoe"] = value_of(object, "current_aoe");
    one.available["eoe"] = value_of(object, "current_eoe");
    const auto host = one.available.find("host");
    one.host = host != one.available.end() ? host->second : std::string(value_of(object, "Mom"));
    one.state = vnode_state(value_of(object, "state"));
    one.sharing = vnode_sharing(value_of(object, "sharing"));
    one.priority = static_cast<std::int32_t>(number_of(value_of(object, "Priority"), 0));
    one.queue = value_of(object, "queue");
    one.partition = value_of(object, "partition");
    return one;
}

ifl::Attributes vnode_attributes() {
    return named({"state", "sharing", "Mom", "Priority", "queue", "partition", "current_aoe", "current_eoe",
                  "resources_available"});
}

ifl::Attributes vnode_state_attributes() {
    return named({"state"});
}

ifl::Result<ServerPlace> find_server() {
    // What pbs.conf names, not a server of ours whose home is in the environment.
    const auto settings = ifl::load_settings([](const char* name) -> std::string {
        return std::string_view(name) == "PBS_HOME" ? std::string() : ifl::process_environment()(name);
    });
    if (!settings) return tl::unexpected(settings.error());
    const auto address = ifl::server_address(is_secondary() ? settings->secondary : std::string(), *settings);
    if (!address) return tl::unexpected(address.error());
    return ServerPlace{*settings, *address};
}

ifl::Result<Site> ask_site() {
    const auto place = find_server();
    if (!place) return tl::unexpected(place.error());
    auto connection = ifl::Connection::open(place->address, place->settings, {});
    if (!connection) return tl::unexpected(connection.error());
    Site site;
    ifl::Connection& client = **connection;
    using Type = ifl::RequestType;
    ifl::Result<void> done = ask(client, Type::status_server, {},
                                 [&](const ifl::ObjectView& object) { site.server = server_of(object); });
    if (done)
        done = ask(client, Type::status_queue, {}, [&](const ifl::ObjectView& object) {
            site.queues[std::string(object.name)] = queue_of(object);
        });
    if (done)
        done = ask(client, Type::status_scheduler, {}, [&](const ifl::ObjectView& object) {
            site.scheds[std::string(object.name)] = sched_of(object);
        });
    if (done)
        done = ask(client, Type::status_resource, kResourceExtend,
                   [&](const ifl::ObjectView& object) { note_resource(site.resources, object); });
    if (!done) return tl::unexpected(done.error());
    return site;
}

}  // namespace pbs::openpbs

#include "server_plugin/plugin/translate.h"

#include <algorithm>
#include <utility>

#include "objects/resources.h"
#include "server_plugin/plugin/text.h"

namespace pbs::plugin {
namespace {

bool present(const void* array, std::size_t count) {
    return count == 0 || array;
}

std::optional<sched::ResourceKind> kind_of(int32_t kind) {
    if (kind < PBS_RES_LONG || kind > PBS_RES_STRING_ARRAY) return std::nullopt;
    return static_cast<sched::ResourceKind>(kind);
}

pbs_amount to_c(const sched::Amount& amount) {
    return pbs_amount{amount.resource, 0, amount.number, c_str(amount.text)};
}

sched::Sharing sharing_of(std::uint32_t number) {
    using enum sched::Sharing;
    static_assert(static_cast<int>(default_excl) == PBS_VNODE_DEFAULT_EXCL &&
                  static_cast<int>(default_exclhost) == PBS_VNODE_DEFAULT_EXCLHOST &&
                  static_cast<int>(ignore_excl) == PBS_VNODE_IGNORE_EXCL &&
                  static_cast<int>(force_excl) == PBS_VNODE_FORCE_EXCL &&
                  static_cast<int>(force_exclhost) == PBS_VNODE_FORCE_EXCLHOST);
    return number <= PBS_VNODE_FORCE_EXCLHOST ? static_cast<sched::Sharing>(number) : default_shared;
}

}  // namespace

sched::Instant instant(int64_t seconds) {
    return sched::Instant{std::chrono::seconds{seconds}};
}
int64_t seconds(sched::Instant instant) {
    return instant.time_since_epoch().count();
}

Translator::AmountRange Translator::take(const pbs_amount* amounts, std::size_t count) {
    const std::size_t first = amounts_.size();
    for (const pbs_amount& amount : std::span(amounts, count)) {
        amounts_.push_back({amount.resource, amount.number, view(amount.text)});
    }
    return {first, count};
}

bool Translator::take(const pbs_entity_limit* limits, std::size_t count) {
    if (!present(limits, count)) return false;
    for (const pbs_entity_limit& limit : std::span(limits, count)) {
        if (limit.entity < PBS_ENTITY_ALL || limit.entity > PBS_ENTITY_PROJECT) return false;
        const auto entity = static_cast<sched::EntityKind>(limit.entity);
        const bool of_all = entity == sched::EntityKind::all;
        limits_.push_back({entity, of_all ? std::string_view() : view(limit.name), limit.resource, limit.most,
                           limit.soft != 0});
    }
    return true;
}

std::span<const sched::Amount> Translator::amounts(AmountRange range) const {
    return std::span(amounts_).subspan(range.first, range.second);
}

std::optional<sched::ResourceRecord> Translator::resource(const pbs_resource_record* record) {
    if (!fits(record)) return std::nullopt;
    const auto kind = kind_of(record->kind);
    if (!kind) return std::nullopt;
    // Don't treat built-in resources as host_level: while no vnode has a value of vmem, for example, vnodes
    // don't limit it.
    static const objects::ResourceNames usual;
    const bool host_level = record->host_level != 0 && !usual.contains(view(record->name));
    return sched::ResourceRecord{record->id, *kind, view(record->name), record->consumable != 0, host_level};
}

std::optional<sched::ServerRecord> Translator::server(const pbs_server_record* record) {
    if (!fits(record) || !present(record->resources_max, record->resources_max_count) ||
        !present(record->resources_available, record->resources_available_count)) {
        return std::nullopt;
    }
    limits_.clear();
    if (!take(record->limits, record->limit_count)) return std::nullopt;
    amounts_.clear();
    const AmountRange max = take(record->resources_max, record->resources_max_count);
    const AmountRange available = take(record->resources_available, record->resources_available_count);
    sched::ServerRecord out;
    out.name = view(record->name);
    out.host_name = view(record->host_name);
    out.max_running = record->max_running;
    out.max_user_run = record->max_user_run;
    out.max_group_run = record->max_group_run;
    out.resources_max = amounts(max);
    out.resources_available = amounts(available);
    out.backfill_depth = record->backfill_depth;
    out.job_sort_formula = view(record->job_sort_formula);
    out.suspend_releases = view(record->suspend_releases);
    if (record->counts_eligible_time != 0) out.eligible_since = instant(record->eligible_since);
    out.limits = limits_;
    out.node_group_key = view(record->node_group_key);
    out.node_group_enable = record->node_group_enable != 0;
    return out;
}

std::optional<sched::SchedRecord> Translator::sched(const pbs_sched_record* record) {
    if (!fits(record)) return std::nullopt;
    return sched::SchedRecord{view(record->name), record->scheduling != 0, view(record->partition),
                              view(record->sched_priv)};
}

std::optional<sched::QueueRecord> Translator::queue(const pbs_queue_record* record) {
    if (!fits(record) || !present(record->resources_max, record->resources_max_count) ||
        !present(record->resources_min, record->resources_min_count) ||
        !present(record->resources_available, record->resources_available_count) ||
        !present(record->acl_users, record->acl_user_count)) {
        return std::nullopt;
    }
    limits_.clear();
    if (!take(record->limits, record->limit_count)) return std::nullopt;
    amounts_.clear();
    const AmountRange max = take(record->resources_max, record->resources_max_count);
    const AmountRange min = take(record->resources_min, record->resources_min_count);
    const AmountRange available = take(record->resources_available, record->resources_available_count);
    texts_.clear();
    for (const pbs_str& entry : std::span(record->acl_users, record->acl_user_count)) {
        texts_.push_back(view(entry));
    }
    sched::QueueRecord out;
    out.queue = sched::QueueHandle{record->queue};
    out.name = view(record->name);
    out.execution = (record->flags & PBS_QUEUE_EXECUTION) != 0;
    out.started = (record->flags & PBS_QUEUE_STARTED) != 0;
    out.enabled = (record->flags & PBS_QUEUE_ENABLED) != 0;
    out.user_acl = (record->flags & PBS_QUEUE_USER_ACL) != 0;
    out.priority = record->priority;
    out.max_running = record->max_running;
    out.max_user_run = record->max_user_run;
    out.max_group_run = record->max_group_run;
    out.resources_max = amounts(max);
    out.resources_min = amounts(min);
    out.resources_available = amounts(available);
    out.acl_users = texts_;
    out.partition = view(record->partition);
    out.backfill_depth = record->backfill_depth;
    if (record->execution_type < PBS_EXECUTION_ANY || record->execution_type > PBS_EXECUTION_DEDICATED)
        return std::nullopt;
    out.execution_type = static_cast<sched::ExecutionType>(record->execution_type);
    out.limits = limits_;
    out.node_group_key = view(record->node_group_key);
    return out;
}

std::optional<sched::VnodeRecord> Translator::vnode(const pbs_vnode_record* record) {
    if (!fits(record) || !present(record->resources_available, record->resources_available_count)) {
        return std::nullopt;
    }
    amounts_.clear();
    const AmountRange available = take(record->resources_available, record->resources_available_count);
    sched::VnodeRecord out;
    out.vnode = sched::VnodeHandle{record->vnode};
    out.name = view(record->name);
    out.host = view(record->host);
    out.free = (record->state & ~static_cast<std::uint32_t>(PBS_VNODE_BUSY)) == PBS_VNODE_FREE;
    out.busy = (record->state & PBS_VNODE_BUSY) != 0;
    out.priority = record->priority;
    out.queue = sched::QueueHandle{record->queue};
    out.partition = view(record->partition);
    out.resources_available = amounts(available);
    out.load_thousandths = record->load_thousandths;
    out.system_time_thousandths = record->system_time_thousandths;
    out.load_at = instant(record->load_at);
    if (record->max_load_thousandths > 0) out.max_load_thousandths = record->max_load_thousandths;
    out.sharing = sharing_of(record->sharing);
    return out;
}

std::optional<sched::JobRecord> Translator::job(const pbs_job_record* record) {
    if (!fits(record) || !present(record->requested, record->requested_count) ||
        !present(record->places, record->place_count) || !present(record->used, record->used_count) ||
        !present(record->kept, record->kept_count)) {
        return std::nullopt;
    }
    amounts_.clear();
    ranges_.clear();
    places_.clear();
    const AmountRange requested = take(record->requested, record->requested_count);
    const AmountRange used = take(record->used, record->used_count);
    std::vector<pbs_place>& held = held_;
    held.assign(record->places, record->places + record->place_count);
    held.insert(held.end(), record->kept, record->kept + record->kept_count);
    for (const pbs_place& place : held) {
        if (!present(place.amounts, place.amount_count)) return std::nullopt;
        ranges_.push_back(take(place.amounts, place.amount_count));
    }
    // The buffer of amounts doesn't grow from here on, so spans of it stay valid.
    for (std::size_t i = 0; i < held.size(); ++i) {
        places_.push_back({sched::VnodeHandle{held[i].vnode}, amounts(ranges_[i])});
    }
    sched::JobRecord out;
    out.job = sched::JobHandle{record->job};
    out.id = view(record->id);
    out.queue = sched::QueueHandle{record->queue};
    out.state = static_cast<char>(record->state);
#define JOB_TEXT(name) out.name = view(record->name);
#define JOB_NUMBER(name, type) out.name = record->name;
#define JOB_INSTANT(name) out.name = instant(record->name);
#define JOB_FLAG(name, upper_name) out.name = (record->flags & PBS_JOB_##upper_name) != 0;
#include "server_plugin/scheduler/model/job_fields.def"
    out.etime = instant(record->etime);
    using enum sched::AccrueType;
    out.accrual = {record->accrue_type == PBS_ACCRUE_INELIGIBLE ? ineligible
                   : record->accrue_type == PBS_ACCRUE_ELIGIBLE ? eligible
                                                                : initial,
                   sched::Seconds{record->eligible_time}, instant(record->accrues_since)};
    out.walltime = sched::Seconds{record->walltime};
    out.soft_walltime = sched::Seconds{record->soft_walltime};
    out.extended = (record->flags & PBS_JOB_EXTENDED) != 0;
    out.requested = amounts(requested);
    out.places = std::span(places_).first(record->place_count);
    out.kept = std::span(places_).subspan(record->place_count);
    out.account = view(record->account);
    out.used = amounts(used);
    return out;
}

std::optional<std::span<const sched::Place>> Translator::places(const pbs_place* places, std::size_t count,
                                                                const std::uint8_t* joined) {
    if (!present(places, count)) return std::nullopt;
    amounts_.clear();
    ranges_.clear();
    places_.clear();
    for (const pbs_place& place : std::span(places, count)) {
        if (!present(place.amounts, place.amount_count)) return std::nullopt;
        ranges_.push_back(take(place.amounts, place.amount_count));
    }
    for (std::size_t i = 0; i < count; ++i)
        places_.push_back({sched::VnodeHandle{places[i].vnode}, amounts(ranges_[i]),
                           i > 0 && joined != nullptr && joined[i] == 1});
    return places_;
}

std::optional<sched::ReservationRecord> Translator::reservation(const pbs_reservation_record* record) {
    if (!fits(record) || !present(record->requested, record->requested_count) ||
        !present(record->later, record->later_count) ||
        !present(record->later_requested, record->later_requested_count) ||
        record->state < PBS_RESERVATION_ASKED || record->state > PBS_RESERVATION_CONFIRMED) {
        return std::nullopt;
    }
    const std::span later(record->later, record->later_count);
    amounts_.clear();
    ranges_.clear();
    places_.clear();
    occurrences_.clear();
    const AmountRange requested = take(record->requested, record->requested_count);
    const AmountRange later_requested = take(record->later_requested, record->later_requested_count);
    const auto take_places = [&](const pbs_place* places, std::size_t count) {
        if (!present(places, count)) return false;
        for (const pbs_place& place : std::span(places, count)) {
            if (!present(place.amounts, place.amount_count)) return false;
            ranges_.push_back(take(place.amounts, place.amount_count));
            places_.push_back({sched::VnodeHandle{place.vnode}, {}});
        }
        return true;
    };
    if (!take_places(record->places, record->place_count)) return std::nullopt;
    for (const pbs_reservation_occurrence& one : later)
        if (!take_places(one.places, one.place_count)) return std::nullopt;
    for (std::size_t i = 0; i < places_.size(); ++i) places_[i].amounts = amounts(ranges_[i]);
    std::size_t first = record->place_count;
    for (const pbs_reservation_occurrence& one : later) {
        occurrences_.push_back({instant(one.start), instant(one.end),
                                std::span(places_).subspan(first, one.place_count), one.asked != 0});
        first += one.place_count;
    }
    sched::ReservationRecord out;
    out.reservation = sched::ReservationHandle{record->reservation};
    out.id = view(record->id);
    out.queue = sched::QueueHandle{record->queue};
    out.asked = record->state == PBS_RESERVATION_ASKED;
    out.start = instant(record->start);
    out.end = instant(record->end);
    out.requested = amounts(requested);
    out.places = std::span(places_).first(record->place_count);
    out.held_start = instant(record->held_start);
    out.held_end = instant(record->held_end);
    out.later = occurrences_;
    out.keeps_first = record->keeps_first != 0;
    out.soonest = record->soonest != 0;
    out.later_requested = amounts(later_requested);
    return out;
}

void DecisionArray::assign(sched::Decisions decisions) {
    clear();
    decisions_ = std::move(decisions);
    // Reserve the arrays' sizes first, so that pointers into them stay valid.
    std::size_t amount_count = 0;
    std::size_t place_count = 0;
    for (const sched::Decision& decision : decisions_.list) {
        amount_count += decision.set_resources.size();
        place_count += decision.places.size();
        for (const sched::Place& place : decision.places) amount_count += place.amounts.size();
    }
    amounts_.reserve(amount_count);
    places_.reserve(place_count);
    joined_.reserve(place_count);
    list_.reserve(decisions_.list.size());

    const auto add_amounts = [this](std::span<const sched::Amount> amounts) {
        const pbs_amount* first = amounts_.data() + amounts_.size();
        for (const sched::Amount& amount : amounts) amounts_.push_back(to_c(amount));
        return first;
    };
    for (const sched::Decision& decision : decisions_.list) {
        pbs_decision out{};
        out.size = sizeof(pbs_decision);
        out.kind = static_cast<int32_t>(decision.kind);
        out.job = decision.reservation == sched::ReservationHandle{}
                      ? static_cast<uint64_t>(decision.job)
                      : static_cast<uint64_t>(decision.reservation);
        out.queue = static_cast<uint64_t>(decision.queue);
        out.text = c_str(decision.text);
        out.set_resources = add_amounts(decision.set_resources);
        out.set_resource_count = decision.set_resources.size();
        out.places = places_.data() + places_.size();
        out.place_count = decision.places.size();
        out.start = decision.start ? seconds(*decision.start) : 0;
        out.joined = joined_.data() + joined_.size();
        out.for_job = static_cast<uint64_t>(decision.for_job);
        for (std::size_t i = 0; i < decision.methods.size(); ++i)
            out.methods[i] = static_cast<uint8_t>(decision.methods[i]);
        out.after_preemptions = decision.after_preemptions ? 1 : 0;
        out.together = decision.together;
        out.accrue_type = static_cast<int32_t>(decision.accrue_type);
        out.weight = decision.weight;
        for (const sched::Place& place : decision.places) {
            joined_.push_back(place.joined ? 1 : place.next_occurrence ? 2 : 0);
            places_.push_back(
                {static_cast<uint64_t>(place.vnode), add_amounts(place.amounts), place.amounts.size()});
        }
        list_.push_back(out);
    }
    decisions_.list = std::vector<sched::Decision>();  // frees its memory; the texts are in decisions_.memory
    // Sort many comments by job, as the host stores its jobs and their rows: it then writes them several
    // times as fast. Leave fewer comments in the order in which jobs were considered, so that a log shows
    // that order.
    constexpr std::ptrdiff_t kMany = 10'000;
    const auto is_comment = [](const pbs_decision& one) { return one.kind == PBS_DECIDE_COMMENT; };
    const auto last_other = std::find_if_not(list_.rbegin(), list_.rend(), is_comment).base();
    if (list_.end() - last_other >= kMany)
        std::sort(last_other, list_.end(),
                  [](const pbs_decision& a, const pbs_decision& b) { return a.job < b.job; });
}

}  // namespace pbs::plugin

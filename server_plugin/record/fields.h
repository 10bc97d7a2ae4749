// Lists the keys of each line of a record, for the writer and the reader: `archive(key, member, default)`.
#pragma once

#include <array>
#include <string_view>
#include <type_traits>
#include <utility>

#include "server_plugin/record/record_file.h"

namespace pbs::record {

template <class Archive, class S>
using Ref = std::conditional_t<Archive::kReads, S&, const S&>;

// The words that stand for the values of an enumeration in a record.
template <class E>
struct Words;
template <>
struct Words<sched::ResourceKind> {
    using enum sched::ResourceKind;
    static constexpr std::array<std::pair<sched::ResourceKind, std::string_view>, 7> kList{
        {{integer, "integer"},
         {real, "real"},
         {size, "size"},
         {duration, "duration"},
         {boolean, "boolean"},
         {string, "string"},
         {string_array, "string_array"}}};
};
template <>
struct Words<sched::ExecutionType> {
    using enum sched::ExecutionType;
    static constexpr std::array<std::pair<sched::ExecutionType, std::string_view>, 4> kList{
        {{any, "any"}, {prime, "prime"}, {non_prime, "non_prime"}, {dedicated, "dedicated"}}};
};
template <>
struct Words<sched::AccrueType> {
    using enum sched::AccrueType;
    static constexpr std::array<std::pair<sched::AccrueType, std::string_view>, 3> kList{
        {{initial, "initial"}, {ineligible, "ineligible"}, {eligible, "eligible"}}};
};
template <>
struct Words<sched::EntityKind> {
    using enum sched::EntityKind;
    static constexpr std::array<std::pair<sched::EntityKind, std::string_view>, 4> kList{
        {{all, "all"}, {user, "user"}, {group, "group"}, {project, "project"}}};
};
template <>
struct Words<sched::CycleTrigger> {
    using enum sched::CycleTrigger;
    static constexpr std::array<std::pair<sched::CycleTrigger, std::string_view>, 8> kList{
        {{job_new, "job_new"},
         {job_ended, "job_ended"},
         {timer, "timer"},
         {recycle, "recycle"},
         {command, "command"},
         {configure, "configure"},
         {first, "first"},
         {policy_switch, "policy_switch"}}};
};
template <>
struct Words<sched::Sharing> {
    using enum sched::Sharing;
    static constexpr std::array<std::pair<sched::Sharing, std::string_view>, 6> kList{
        {{default_shared, "default_shared"},
         {default_excl, "default_excl"},
         {default_exclhost, "default_exclhost"},
         {ignore_excl, "ignore_excl"},
         {force_excl, "force_excl"},
         {force_exclhost, "force_exclhost"}}};
};
template <class E>
concept Worded = requires {
    Words<E>::kList;
};

// Returns the key of the record line that holds this part of the state.
template <class T>
constexpr std::string_view key_of() {
    if constexpr (std::is_same_v<T, sched::ResourceRecord>) return "resource";
    if constexpr (std::is_same_v<T, sched::ServerRecord>) return "server";
    if constexpr (std::is_same_v<T, sched::QueueState>) return "queue";
    if constexpr (std::is_same_v<T, sched::SchedState>) return "sched";
    if constexpr (std::is_same_v<T, sched::VnodeState>) return "vnode";
    if constexpr (std::is_same_v<T, sched::ReservationState>) return "reservation";
    if constexpr (std::is_same_v<T, sched::JobState>) return "job";
    if constexpr (std::is_same_v<T, sched::PastUsageState>) return "past_usage";
    if constexpr (std::is_same_v<T, sched::FairShareState>) return "fair_share";
    if constexpr (std::is_same_v<T, sched::AllocationsState>) return "allocations";
    if constexpr (std::is_same_v<T, sched::OutagesState>) return "outages";
    if constexpr (std::is_same_v<T, sched::ToldState>) return "told";
    if constexpr (std::is_same_v<T, sched::TickState>) return "tick";
}

template <class A>
void fields(A& a, Ref<A, sched::ResourceRecord> r) {
    a("id", r.id, UINT32_MAX);
    a("name", r.name, "");
    a("kind", r.kind, sched::ResourceKind::integer);
    a("consumable", r.consumable, false);
    a("host_level", r.host_level, false);
}

template <class A>
void fields(A& a, Ref<A, sched::EntityLimitRecord> r) {
    a("of", r.entity, sched::EntityKind::all);
    a("name", r.name, "");
    a("resource", r.resource, UINT32_MAX);
    a("most", r.most, -1);
    a("soft", r.soft, false);
}

template <class A>
void fields(A& a, Ref<A, sched::ServerRecord> r) {
    a("name", r.name, "");
    a("host", r.host_name, "");
    a("max_running", r.max_running, -1);
    a("max_user_run", r.max_user_run, -1);
    a("max_group_run", r.max_group_run, -1);
    a.amounts("resources_available", r.resources_available);
    a("backfill_depth", r.backfill_depth, -1);
    a("job_sort_formula", r.job_sort_formula, "");
    a("suspend_releases", r.suspend_releases, "");
    a("node_group_enable", r.node_group_enable, false);
    a("node_group_key", r.node_group_key, "");
    a.list("limits", r.limits);
    a.optional("eligible_since", r.eligible_since);
}

template <class A>
void fields(A& a, Ref<A, sched::QueueState> s) {
    auto& r = s.record;
    a("handle", r.queue, sched::QueueHandle{});
    a("name", r.name, "");
    a("known", s.known, true);
    a("idle_since", s.idle_since, Instant{});
    a("execution", r.execution, true);
    a("started", r.started, true);
    a("enabled", r.enabled, true);
    a("acl_user_enable", r.user_acl, false);
    a("priority", r.priority, 0);
    a("max_running", r.max_running, -1);
    a("max_user_run", r.max_user_run, -1);
    a("max_group_run", r.max_group_run, -1);
    a.amounts("resources_max", r.resources_max);
    a.amounts("resources_min", r.resources_min);
    a.amounts("resources_available", r.resources_available);
    a.list("acl_users", r.acl_users);
    a("partition", r.partition, "");
    a("node_group_key", r.node_group_key, "");
    a("backfill_depth", r.backfill_depth, -1);
    a("execution_type", r.execution_type, sched::ExecutionType::any);
    a.list("limits", r.limits);
}

template <class A>
void fields(A& a, Ref<A, sched::EarlyQueue> r) {
    a("queue", r.queue, sched::QueueHandle{});
    a("until", r.until, Instant{});
}

template <class A>
void fields(A& a, Ref<A, sched::FoundJob> r) {
    a("job", r.job, sched::JobHandle{});
    a("queue", r.queue, sched::QueueHandle{});
}

template <class A>
void fields(A& a, Ref<A, sched::SchedState> s) {
    a("name", s.record.name, "");
    a("scheduling", s.record.scheduling, true);
    a("partition", s.record.partition, "");
    a("policy_in_force", s.policy, "");
    a("first_cycle", s.first_cycle, true);
    a.list("early", s.early);
    a.list("found_at_start", s.found_at_start);
}

template <class A>
void fields(A& a, Ref<A, sched::VnodeState> s) {
    auto& r = s.record;
    a("handle", r.vnode, sched::VnodeHandle{});
    a("name", r.name, "");
    a("known", s.known, true);
    a("host", r.host, "");
    a("free", r.free, true);
    a("priority", r.priority, 0);
    a("queue", r.queue, sched::QueueHandle{});
    a("partition", r.partition, "");
    a.amounts("resources_available", r.resources_available);
    a("load_thousandths", r.load_thousandths, -1);
    a("system_time_thousandths", r.system_time_thousandths, -1);
    a("load_at", r.load_at, sched::Instant{});
    a("max_load_thousandths", r.max_load_thousandths, -1);
    a("busy", r.busy, false);
    a("sharing", r.sharing, sched::Sharing::default_shared);
}

template <class A>
void fields(A& a, Ref<A, sched::Place> r) {
    a("vnode", r.vnode, sched::VnodeHandle{});
    a.amounts("amounts", r.amounts);
}

template <class A>
void fields(A& a, Ref<A, sched::ReservationOccurrence> r) {
    a("start", r.start, Instant{});
    a("end", r.end, Instant{});
    a("asked", r.asked, false);
    a.list("places", r.places);
}

template <class A>
void fields(A& a, Ref<A, sched::ReservationState> s) {
    auto& r = s.record;
    a("handle", r.reservation, sched::ReservationHandle{});
    a("id", r.id, "");
    a("queue", r.queue, sched::QueueHandle{});
    a("asked", r.asked, false);
    a("start", r.start, Instant{});
    a("end", r.end, Instant{});
    a.amounts("requested", r.requested);
    a.list("places", r.places);
    a("held_start", r.held_start, Instant{});
    a("held_end", r.held_end, Instant{});
    a.list("later", r.later);
    a("keeps_first", r.keeps_first, false);
    a("soonest", r.soonest, false);
    a.amounts("later_requested", r.later_requested);
}

template <class A>
void fields(A& a, Ref<A, sched::JobState> s) {
    auto& r = s.record;
    a("handle", r.job, sched::JobHandle{});
    a("id", r.id, "");
    a("sequence", r.sequence, 0U);
    a("owner", r.owner, "");
    a("group", r.group, "");
    a("project", r.project, "");
    a("queue", r.queue, sched::QueueHandle{});
    a.state("state", r.state);
    a("origin_queue", r.origin_queue, "");
    a("run_host", r.run_host, "");
    a("priority", r.priority, 0);
    a("interactive", r.interactive, false);
    a("rerunnable", r.rerunnable, false);
    a("has_comment", r.has_comment, false);
    a("checkpointable", r.checkpointable, false);
    a("suspended", r.suspended, false);
    a("not_preemptable", r.not_preemptable, false);
    a("topjob_ineligible", r.topjob_ineligible, false);
    a("elsewhere", r.elsewhere, false);
    a("ctime", r.ctime, Instant{});
    a("qtime", r.qtime, Instant{});
    a("eligible", r.etime, Instant{});
    a("accrue_type", r.accrual.type, sched::AccrueType::initial);
    a("eligible_time", r.accrual.before, Seconds(0));
    a("accrues_since", r.accrual.since, Instant{});
    a("stime", r.stime, Instant{});
    a("mtime", r.mtime, Instant{});
    a("preempted_at", r.preempted_at, Instant{});
    a("elapsed", r.elapsed, 0);
    a("together", r.together, 0);
    a("walltime", r.walltime, Seconds(-1));
    a("soft_walltime", r.soft_walltime, Seconds(0));
    a("extended", r.extended, false);
    a.amounts("requested", r.requested);
    a.list("places", r.places);
    a("account", r.account, "");
    a.amounts("used", r.used);
    a.list("kept", r.kept);
    a("fresh", s.fresh, true);
    a("comment", s.comment, 0U);
}

template <class A>
void fields(A& a, Ref<A, sched::UsageRow> r) {
    a("group", r.group, "");
    a("user", r.user, "");
    a("usage", r.usage, 0.0);
}

template <class A>
void fields(A& a, Ref<A, sched::PastUsageState> s) {
    a("last_decay", s.last_decay, Instant{});
    a.list("users", s.rows);
    a.list("charged", s.charged);
}

template <class A>
void fields(A& a, Ref<A, sched::ChargeRow> r) {
    a("job", r.job_id, "");
    a("charge", r.charge, 0.0);
}

template <class A>
void fields(A& a, Ref<A, sched::FairShareState> s) {
    a("scope", s.scope, "");
    a("last_decay", s.last_decay, Instant{});
    a.list("entities", s.rows);
    a.list("charges", s.charges);
}

template <class A>
void fields(A& a, Ref<A, sched::Allocations::Charge> r) {
    a("group", r.group, "");
    a("node_hours", r.node_hours, 0.0);
    a("ended", r.ended, false);
}

template <class A>
void fields(A& a, Ref<A, sched::AllocationsState> s) {
    a("dir", s.dir, "");
    a.map("allocated", s.state.allocated);
    a.map("used", s.state.used);
    a.map("charges", s.state.charges);
    a.map("charged", s.state.charged);
}

template <class A>
void fields(A& a, Ref<A, sched::Outage> r) {
    a("start", r.start, Instant{});
    a("end", r.end, Instant{});
    a("description", r.description, "");
    a("of_system", r.of_system, false);
}

template <class A>
void fields(A& a, Ref<A, sched::OutagesState> s) {
    a("command", s.command, "");
    a("name", s.name, "");
    a("awaited", s.known.awaited, false);
    a.optional_list("outages", s.known.outages);
}

template <class A>
void fields(A& a, Ref<A, sched::ToldState> s) {
    a("element", s.element, "");
    a("value", s.known.value, "");
    a("taken", s.known.taken, 0);
}

template <class A>
void fields(A& a, Ref<A, sched::TickState> s) {
    a.optional("last", s.last);
    a("look_again", s.look_again, false);
}

template <class A>
void fields(A& a, Ref<A, CycleAsked> c) {
    a("now", c.now, Instant{});
    a("sched", c.sched, "");
    a("trigger", c.trigger, sched::CycleTrigger{});
    a("whole_chunks", c.whole_chunks, false);
    a("no_preemption", c.no_preemption, false);
}

}  // namespace pbs::record

// SubmitReservation: a reservation is made, with its queue, and the scheduler asked about it. With the
// attribute interactive the client waits for the answer: so many seconds, and then hears that there is none
// yet; or, if the number is below 0, so many, and then the reservation is deleted.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <memory>

#include "ifl/pbs_error.h"
#include "server_plugin/host/accounting.h"
#include "server_plugin/host/clock.h"
#include "server_plugin/host/log.h"
#include "server_plugin/host/occurrences.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/requests/reservation_requests.h"
#include "server_plugin/host/reservation.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

// Each one that is asked for costs a cycle a search, and each one that there is keeps jobs out.
constexpr size_t kMostOfUser = 200;
// The same of each occurrence of a standing one.
constexpr size_t kMostOccurrencesOfUser = 1000;

// resv_enable, acl_resv_hosts, acl_resv_groups, acl_resv_users.
Result<void> may_reserve(const Context& context, const Reservation& reservation) {
    const Attributes& server = context.state().server;
    if (!server.boolean("resv_enable", true))
        return fail(PBSE_RESVAUTH_U,
                    fmt::format("reservations disallowed on {}", context.state().server_name));
    if (server.boolean("acl_resv_host_enable", false) &&
        !acl_allows(server.list("acl_resv_hosts"), context.who.host, AclKind::host))
        return fail(PBSE_RESVAUTH_H);
    if (server.boolean("acl_resv_group_enable", false) &&
        !acl_allows(server.list("acl_resv_groups"), reservation.attributes.text("egroup"), AclKind::group))
        return fail(PBSE_RESVAUTH_G);
    if (server.boolean("acl_resv_user_enable", false) &&
        !acl_allows(server.list("acl_resv_users"), requestor(context), AclKind::user))
        return fail(PBSE_RESVAUTH_U);
    if (context.who.operator_()) return {};
    size_t of_user = 0;
    size_t occurrences = 1 + reservation.later.size();
    for (const auto& [number, other] : context.state().reservations()) {
        if (other.owner() != reservation.owner()) continue;
        ++of_user;
        occurrences += 1 + other.later.size();
    }
    if (of_user >= kMostOfUser)
        return fail(PBSE_RESVAUTH_U, fmt::format("{} has {} reservations, and may have no more",
                                                 reservation.owner(), of_user));
    if (occurrences > kMostOccurrencesOfUser)
        return fail(PBSE_RESVAUTH_U,
                    fmt::format("The reservations of {} would have {} occurrences: expected at most {}",
                                reservation.owner(), occurrences, kMostOccurrencesOfUser));
    return {};
}

void set_if_missing(Reservation& reservation, std::string_view name, std::string_view value) {
    if (!reservation.attributes.has(name)) set_attribute(reservation, name, value);
}

// What the server adds to what the client gave.
void complete(const Context& context, Reservation& reservation, const std::string& queue) {
    set_if_missing(reservation, "Reserve_Name", "NULL");
    set_attribute(reservation, "queue", queue);
    set_attribute(reservation, "server", context.state().server_name);
    set_attribute(reservation, "ctime", std::to_string(context.now));
    set_attribute(reservation, "mtime", std::to_string(context.now));
    set_attribute(reservation, "hop_count", "1");
    set_attribute(reservation, "Submit_Host", context.who.host);
    for (const char* name : {"reserve_state", "reserve_substate"})
        set_attribute(reservation, name, std::to_string(reservation_state::kUnconfirmed));
}

// The running job that a reservation is made from, in whose place it comes: null if it is made from none.
Result<const Job*> job_of(const Context& context, const Reservation& reservation) {
    if (!reservation.attributes.has("reserve_job")) return nullptr;
    const auto target = target_of(context.state(), reservation.attributes.text("reserve_job"));
    if (!target) return tl::unexpected(target.error());
    const Job& job = *target->job;
    if (job.is_array() || job.is_subjob() || target->subjobs())
        return fail(PBSE_RESV_FROM_ARRJOB, "Reservation may not be created from an array job");
    if (context.state().reservation_of_queue(job.queue) != nullptr)
        return fail(PBSE_RESV_FROM_RESVJOB,
                    "Reservation may not be created from a job already within a "
                    "reservation");
    if (!is_owner(context, job)) return fail(PBSE_PERM);
    if (job.state != job_state::kRunning || job.places.empty())
        return fail(PBSE_BADSTATE, "Request invalid for state of job: it doesn't run");
    return &job;
}

// It has what the job has, for as long as the job may run.
Result<void> take_from(const Job& job, Reservation& reservation) {
    constexpr int64_t kWithoutWalltime = 5LL * 365 * 24 * 3600;  // as in OpenPBS
    const AttributeDef& list = *reservation_table().find("Resource_List");
    reservation.attributes.unset(list, {});
    for (const AttributeValue& value : job.attributes.all_of("Resource_List"))
        reservation.attributes.set(list, value.resource(), value.value());
    if (!job.attributes.has("Resource_List", "walltime"))
        reservation.attributes.set(list, "walltime", amount_text(Type::duration, kWithoutWalltime));
    for (const char* name : {"schedselect", "euser", "egroup"})
        set_attribute(reservation, name, std::string(job.attributes.text(name)));
    if (reservation.attributes.has("reserve_start") || reservation.attributes.has("reserve_end"))
        return fail(PBSE_BADTSPEC,
                    "Bad time specification(s): a reservation of a job has the times of the job");
    set_attribute(reservation, "reserve_start", std::to_string(job.stime));
    return {};
}

// In one transaction with the reservation, which is there at once: nobody else gets what the job has.
void move_into(Change& change, Reservation& reservation, const Queue& queue, const Job& job) {
    confirm_reservation(change, reservation, job.places);
    Job& moved = change.job(job);
    moved.queue = queue.handle;
    moved.queue_name = SharedText(queue.name);
    moved.mtime = change.now();
    log_job(change, job, fmt::format("Job moved into reservation {} made from it", reservation.id));
}

ifl::Reply text_reply(std::string text) {
    ifl::Reply reply;
    reply.body = ifl::TextReply{std::move(text)};
    return reply;
}

}  // namespace

Result<void> set_reservation_attribute(Reservation& reservation, const ifl::Attribute& change,
                                       uint32_t rights, const State& state) {
    const AttributeDef* def = reservation_table().find(change.name);
    if (def == nullptr && reservation_table().is_openpbs_only(change.name))
        return fail(PBSE_NOSUP, fmt::format("No support for requested service: {}", change.name));
    if (def == nullptr) return fail(PBSE_NOATTR);
    const uint32_t allowed = (rights & at_creation) != 0 ? kAllWrites | at_creation : kAllWrites;
    if ((def->flags & rights & allowed) == 0) return fail(PBSE_ATTRRO);
    ifl::Attribute value = change;
    if (def->name == "Resource_List") {
        const std::string_view name = change.resource;
        if (same_name(name, "min_walltime") || same_name(name, "max_walltime")) return fail(PBSE_NOSTF_RESV);
        const Resource* resource = state.resources.find(name);
        if (resource == nullptr) return fail(PBSE_UNKRESC);
        if ((resource->flags & (resource_read_only | resource_invisible)) != 0 &&
            (rights & (write_operator | write_manager)) == 0)
            return fail(PBSE_ATTRRO);
    }
    if (def->name == "reserve_duration") {
        const auto seconds = canonical(Type::duration, change.value);
        if (!seconds) return tl::unexpected(seconds.error());
        value.value = std::to_string(amount_of(Type::duration, *seconds));
    }
    if (def->name == "Mail_Points" && change.value.find_first_not_of("abcen") != std::string::npos)
        return fail(PBSE_BADATVAL,
                    fmt::format("Illegal Mail_Points \"{}\": expected letters out of abcen", change.value));
    if (def->name == "Reserve_Name") {
        if (change.value.empty() || change.value.size() > 230 ||
            change.value.find_first_of(" \t\n\r/") != std::string::npos)
            return fail(
                PBSE_BADATVAL,
                fmt::format("Illegal Reserve_Name \"{}\": expected 1 to 230 characters, no blanks and "
                            "no /",
                            change.value));
    }
    if (def->name == "Priority") {
        const auto number = canonical(Type::integer, change.value);
        const int64_t priority = number ? amount_of(Type::integer, *number) : 0;
        if (priority < -1024 || priority > 1024)
            return fail(PBSE_BADATVAL,
                        fmt::format("Illegal Priority \"{}\": expected -1024 to 1024", change.value));
    }
    return apply_change(reservation.attributes, *def, value, state.resources);
}

AwaitedReservation::AwaitedReservation(std::string id, int64_t until, bool is_deleted)
    : id_(std::move(id)), until_(until), is_deleted_(is_deleted) {}

Steps::Left AwaitedReservation::step(Context& context, ifl::StatusParts&) {
    Server& server = context.server;
    const Reservation* reservation = server.state.reservation(id_);
    if (reservation == nullptr) return end(text_reply(id_ + " DENIED"));
    const bool asked = reservation->is_asked();
    was_altered_ = was_altered_ || reservation->state() == reservation_state::kBeingAltered;
    if (!asked && was_altered_) {
        // It goes on as it was if the scheduler says no.
        const bool granted = reservation->attributes.integer("mtime", 0) >= asked_at_ &&
                             reservation->attributes.text("reserve_start") == wanted_start_ &&
                             reservation->attributes.text("reserve_end") == wanted_end_;
        return end(text_reply(id_ + (granted ? " CONFIRMED" : " DENIED")));
    }
    if (!asked) return end(text_reply(id_ + " CONFIRMED"));
    if (server.now() < until_ && !server.winding_down()) return Left::later;
    if (!is_deleted_ || server.winding_down()) return end(text_reply(id_ + " UNCONFIRMED"));
    Change change(server, server.now());
    delete_reservation(change, change.reservation(*reservation), requestor(context));
    if (auto done = change.commit(); !done) return end(refuse(done.error()));
    return end(text_reply(id_ + " delete, wait period expired"));
}

void AwaitedReservation::wants(const Reservation& reservation, int64_t now) {
    asked_at_ = now;
    was_altered_ = reservation.state() == reservation_state::kBeingAltered;
    wanted_start_ = reservation.attributes.text("asked_start");
    wanted_end_ = reservation.attributes.text("asked_end");
}

ifl::Reply submit_reservation(Context& context) {
    const auto& body = std::get<ifl::QueueJob>(context.request.body);
    Server& server = context.server;
    if (server.winding_down()) return ifl::Reply::error(PBSE_SVRDOWN);
    if (!body.job.empty()) return ifl::Reply::error(PBSE_IVALREQ);
    const bool maintains = context.request.extend.find('m') != std::string::npos;
    if (maintains && !context.who.operator_()) return ifl::Reply::error(PBSE_PERM);
    Reservation reservation;
    const uint32_t rights = write_rights(context.who) | at_creation;
    for (size_t i = 0; i < body.attributes.size(); ++i)
        if (auto set = set_reservation_attribute(reservation, body.attributes[i], rights, context.state());
            !set)
            return refuse_attribute(set.error(), body.attributes[i], i);
    const auto job = job_of(context, reservation);
    if (!job) return refuse(job.error());
    const bool of_job = *job != nullptr;
    if (of_job)
        if (auto ok = take_from(**job, reservation); !ok) return refuse(ok.error());
    if ((of_job || maintains) && reservation.attributes.has("reserve_rrule"))
        return ifl::Reply::error(
            PBSE_BADTSPEC, "Bad time specification(s): a reservation of a job or of hosts doesn't recur");
    if (maintains && (of_job || reservation.attributes.has("interactive")))
        return ifl::Reply::error(PBSE_IVALREQ,
                                 "Invalid request: a reservation of hosts is confirmed by itself");
    if (auto ok = settle_times(reservation, context.now, of_job); !ok) return refuse(ok.error());
    if (auto ok = settle_occurrences(reservation); !ok) return refuse(ok.error());
    const uint64_t number = next_sequence(server);
    reservation.id = context.state().reservation_id(number);
    if (is_standing(reservation)) reservation.id.front() = 'S';
    if (maintains) reservation.id.front() = kMaintenance;
    set_attribute(reservation, "Reserve_Owner", requestor(context));
    complete(context, reservation, reservation.id.substr(0, reservation.id.find('.')));
    if (!of_job)
        if (auto ok = settle_resources(reservation, server); !ok) return refuse(ok.error());
    if (auto ok = may_reserve(context, reservation); !ok) return refuse(ok.error());
    Queue queue;
    queue.name = std::string(reservation.queue_name());
    if (context.state().queue(queue.name) != nullptr)
        return ifl::Reply::error(PBSE_QUEEXIST,
                                 fmt::format("Queue {} of the reservation already exists", queue.name));
    settle_queue(reservation, queue, context.state().resources);
    if (auto ok = settle_access(reservation, queue); !ok) return refuse(ok.error());

    queue.handle = server.state.new_handle();
    reservation.handle = server.state.new_handle();
    const std::string id = reservation.id;
    const bool waits = reservation.attributes.has("interactive");
    const int64_t seconds = reservation.attributes.integer("interactive", 0);
    const auto date = [](int64_t at) {
        return local_time(std::chrono::sys_seconds(std::chrono::seconds(at))).stamp;
    };
    const std::string recurrence =
        is_standing(reservation)
            ? fmt::format(" recurrence_rrule={} timezone={}", reservation.attributes.text("reserve_rrule"),
                          reservation.attributes.text("reserve_timezone"))
            : "";
    const std::string times = fmt::format("New reservation submitted start={} end={}{}",
                                          date(reservation.start()), date(reservation.end()), recurrence);
    choose_asked(reservation, context.state());
    Change change(server, context.now);
    change.next_sequence(static_cast<int64_t>(number) + 1);
    if (of_job)
        for (const char* on : {"enabled", "started"})
            queue.attributes.set(*queue_table().find(on), {}, "True");
    const Queue& own = change.add(std::move(queue));
    Reservation& added = change.add(std::move(reservation));
    const std::string interactive = waits ? fmt::format(" Interactive={}", seconds) : "";
    change.then([&server, id, times,
                 text = fmt::format("requestor={}{}{}", requestor(context), interactive, recurrence)] {
        server.parts.accounting.reservation('U', id, text);
        server.parts.log.write(LogEvent::admin, LogClass::reservation, id, times);
    });
    if (of_job) move_into(change, added, own, **job);
    if (!maintains) change.want_cycle(PBS_SCH_SCHEDULE_CMD);
    if (auto done = change.commit(); !done) return refuse(done.error());
    if (of_job) return text_reply(id + " CONFIRMED");
    if (!waits) return text_reply(id + " UNCONFIRMED");
    context.rest = std::make_unique<AwaitedReservation>(id, context.now + std::abs(seconds), seconds < 0);
    return {};
}

}  // namespace pbs::host

#include "server_plugin/host/life/new_reservation.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "ifl/error_text.h"
#include "ifl/pbs_error.h"
#include "server_plugin/host/base/accounting.h"
#include "server_plugin/host/base/clock.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/life/reservation_life.h"
#include "server_plugin/host/state/identity.h"
#include "server_plugin/host/state/occurrences.h"
#include "server_plugin/host/state/reservation.h"
#include "server_plugin/host/state/reservation_select.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

// The most reservations of a user. Each reservation costs time, because a cycle searches for places for it,
// and keeps jobs off its vnodes.
constexpr size_t kMostOfUser = 200;
// The most occurrences of a user's standing reservations.
constexpr size_t kMostOccurrencesOfUser = 1000;
// The duration, in seconds, of a reservation that is made for a job without a walltime: five years, as in
// OpenPBS.
constexpr int64_t kWithoutWalltime = 5LL * 365 * 24 * 3600;
// The delete_idle_time of a reservation that was made to move a job into it: without jobs for so long, it is
// deleted, as in OpenPBS.
constexpr std::string_view kIdleTime = "00:10:00";

std::string reason_of(const Error& error) {
    return error.message.empty() ? std::string(ifl::error_text(error.code)) : error.message;
}

bool is_moved(const Reservation& reservation) {
    return reservation.attributes.has("qmove");
}

bool waits(const Job& job) {
    return job.state == job_state::kQueued || job.state == job_state::kHeld ||
           job.state == job_state::kWaiting;
}

// Checks resv_enable, acl_resv_hosts, acl_resv_groups and acl_resv_users.
Result<void> may_reserve(const State& state, const NewReservation& asked) {
    const Reservation& reservation = asked.reservation;
    const Attributes& server = state.server;
    if (!server.boolean("resv_enable", true))
        return fail(PBSE_RESVAUTH_U, fmt::format("reservations disallowed on {}", state.server_name));
    if (server.boolean("acl_resv_host_enable", false) &&
        !acl_allows(server.list("acl_resv_hosts"), asked.host, AclKind::host))
        return fail(PBSE_RESVAUTH_H);
    if (server.boolean("acl_resv_group_enable", false) &&
        !acl_allows(server.list("acl_resv_groups"), reservation.attributes.text("egroup"), AclKind::group))
        return fail(PBSE_RESVAUTH_G);
    if (server.boolean("acl_resv_user_enable", false) &&
        !acl_allows(server.list("acl_resv_users"), asked.owner, AclKind::user))
        return fail(PBSE_RESVAUTH_U);
    if (asked.privileged) return {};
    size_t of_user = 0;
    size_t occurrences = 1 + reservation.later.size();
    for (const auto& [number, other] : state.reservations()) {
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

// Sets the attributes that every new reservation has, beside those that the client has set.
void complete(Change& change, const NewReservation& asked, Reservation& reservation) {
    set_if_missing(reservation, "Reserve_Name", "NULL");
    set_attribute(reservation, "queue", reservation.id.substr(0, reservation.id.find('.')));
    set_attribute(reservation, "server", change.server().state.server_name);
    set_attribute(reservation, "ctime", std::to_string(change.now()));
    set_attribute(reservation, "mtime", std::to_string(change.now()));
    set_attribute(reservation, "hop_count", "1");
    set_attribute(reservation, "Submit_Host", asked.host);
    set_attribute(reservation, "Reserve_Owner", asked.owner);
    if (is_moved(reservation)) set_if_missing(reservation, "delete_idle_time", kIdleTime);
    for (const char* name : {"reserve_state", "reserve_substate"})
        set_attribute(reservation, name, std::to_string(reservation_state::kUnconfirmed));
}

// Gives the reservation the job's resources, except those that the request sets, and the job's walltime.
void take_resources(const Job& job, Reservation& reservation, const State& state) {
    const AttributeDef& list = *reservation_table().find("Resource_List");
    const bool has_select = reservation.attributes.has("Resource_List", "select");
    const bool has_own =
        std::ranges::any_of(reservation.attributes.all_of("Resource_List"), [](const AttributeValue& value) {
            return value.resource() != "walltime" && value.resource() != "place";
        });
    for (const AttributeValue& value : job.attributes.all_of("Resource_List")) {
        const std::string_view name = value.resource();
        if (reservation.attributes.has("Resource_List", name)) continue;
        if (has_own && name != "walltime" && (name != "place" || !has_select)) continue;
        reservation.attributes.set(list, name, value.value());
    }
    if (!reservation.attributes.has("Resource_List", "walltime"))
        reservation.attributes.set(list, "walltime", amount_text(Type::duration, kWithoutWalltime));
    // Remove the sums over the chunks. Jobs, and clients that send all of a job's resources, have these sums
    // beside select.
    unset_sums(reservation, reservation.attributes.text("Resource_List", "select"), state);
}

Result<void> take_from(const Job& job, Reservation& reservation, const State& state) {
    const Attributes& a = reservation.attributes;
    if (is_moved(reservation)) {
        if (a.integer("reserve_start", kAsSoonAsPossible) != kAsSoonAsPossible || a.has("reserve_end"))
            return fail(PBSE_BADTSPEC,
                        "Bad time specification(s): a reservation that a job is moved into begins as soon as "
                        "possible");
        take_resources(job, reservation, state);
        set_attribute(reservation, "reserve_start", std::to_string(kAsSoonAsPossible));
        return {};
    }
    if (a.has("reserve_start") || a.has("reserve_end"))
        return fail(PBSE_BADTSPEC,
                    "Bad time specification(s): a reservation of a job has the times of the job");
    const AttributeDef& list = *reservation_table().find("Resource_List");
    reservation.attributes.unset(list, {});
    for (const AttributeValue& value : job.attributes.all_of("Resource_List"))
        reservation.attributes.set(list, value.resource(), value.value());
    if (!job.attributes.has("Resource_List", "walltime"))
        reservation.attributes.set(list, "walltime", amount_text(Type::duration, kWithoutWalltime));
    for (const char* name : {"schedselect", "euser", "egroup"})
        set_attribute(reservation, name, std::string(job.attributes.text(name)));
    set_attribute(reservation, "reserve_start", std::to_string(job.stime));
    return {};
}

// Confirms the reservation and moves the job into it in one transaction, so that no other job gets the
// places.
void move_into(Change& change, Reservation& reservation, const Queue& queue, const Job& job) {
    confirm_reservation(change, reservation, job.places);
    Job& moved = change.job(job);
    moved.queue = queue.handle;
    moved.queue_name = SharedText(queue.name);
    moved.mtime = change.now();
    log_job(change, job, fmt::format("Job moved into reservation {} made from it", reservation.id));
}

// Returns "recurrence_rrule=... timezone=..." for a standing reservation; an empty text for any other.
std::string recurrence_text(const Reservation& reservation) {
    if (!is_standing(reservation)) return {};
    return fmt::format(" recurrence_rrule={} timezone={}", reservation.attributes.text("reserve_rrule"),
                       reservation.attributes.text("reserve_timezone"));
}

void tell_submitted(Change& change, const Reservation& reservation, const std::string& owner) {
    const auto date = [](int64_t at) {
        return local_time(std::chrono::sys_seconds(std::chrono::seconds(at))).stamp;
    };
    const std::string recurrence = recurrence_text(reservation);
    const std::string interactive =
        reservation.attributes.has("interactive")
            ? fmt::format(" Interactive={}", reservation.attributes.integer("interactive", 0))
            : "";
    change.then([&server = change.server(), id = reservation.id,
                 record = fmt::format("requestor={}{}{}", owner, interactive, recurrence),
                 line = fmt::format("New reservation submitted start={} end={}{}", date(reservation.start()),
                                    date(reservation.end()), recurrence)] {
        server.parts.accounting.reservation('U', id, record);
        server.parts.log.write(LogEvent::admin, LogClass::reservation, id, line);
    });
}

}  // namespace

Result<void> check_job_of(const Reservation& reservation, const Job& job, const State& state) {
    const bool moved = is_moved(reservation);
    if (job.is_subjob() || (job.is_array() && !moved))
        return fail(PBSE_RESV_FROM_ARRJOB, "Reservation may not be created from an array job");
    if (state.reservation_of_queue(job.queue) != nullptr)
        return fail(PBSE_RESV_FROM_RESVJOB,
                    "Reservation may not be created from a job already within a reservation");
    if (moved && !waits(job)) return fail(PBSE_BADSTATE, "Request invalid for state of job: it doesn't wait");
    if (!moved && (job.state != job_state::kRunning || job.places.empty()))
        return fail(PBSE_BADSTATE, "Request invalid for state of job: it doesn't run");
    return {};
}

Result<std::string> add_reservation(Change& change, NewReservation asked) {
    Server& server = change.server();
    const State& state = server.state;
    Reservation& reservation = asked.reservation;
    const bool moved = is_moved(reservation);
    const bool of_job = asked.job != nullptr && !moved;
    if (asked.job != nullptr)
        if (auto ok = take_from(*asked.job, reservation, state); !ok) return tl::unexpected(ok.error());
    if ((asked.job != nullptr || asked.maintains) && reservation.attributes.has("reserve_rrule"))
        return fail(PBSE_BADTSPEC,
                    "Bad time specification(s): a reservation of a job or of hosts doesn't recur");
    if (asked.maintains && (asked.job != nullptr || reservation.attributes.has("interactive")))
        return fail(PBSE_IVALREQ, "Invalid request: a reservation of hosts is confirmed by itself");
    if (auto ok = settle_times(reservation, change.now(), of_job); !ok) return tl::unexpected(ok.error());
    if (auto ok = settle_occurrences(reservation); !ok) return tl::unexpected(ok.error());
    const uint64_t number = next_sequence(server);
    reservation.id = state.reservation_id(number);
    if (is_standing(reservation)) reservation.id.front() = 'S';
    if (asked.maintains) reservation.id.front() = kMaintenance;
    complete(change, asked, reservation);
    if (!of_job)
        if (auto ok = settle_resources(reservation, server); !ok) return tl::unexpected(ok.error());
    if (auto ok = may_reserve(state, asked); !ok) return tl::unexpected(ok.error());
    Queue queue;
    queue.name = std::string(reservation.queue_name());
    if (state.queue(queue.name) != nullptr)
        return fail(PBSE_QUEEXIST, fmt::format("Queue {} of the reservation already exists", queue.name));
    settle_queue(reservation, queue, state.resources);
    if (auto ok = settle_access(reservation, queue); !ok) return tl::unexpected(ok.error());
    queue.handle = server.state.new_handle();
    reservation.handle = server.state.new_handle();
    choose_asked(reservation, state);
    server.state.next_sequence = static_cast<int64_t>(number) + 1;
    change.next_sequence(server.state.next_sequence);
    if (of_job)
        for (const char* on : {"enabled", "started"})
            queue.attributes.set(*queue_table().find(on), {}, "True");
    const Queue& own = change.add(std::move(queue));
    Reservation& added = change.add(std::move(reservation));
    tell_submitted(change, added, asked.owner);
    if (of_job) move_into(change, added, own, *asked.job);
    if (!asked.maintains) change.want_cycle(PBS_SCH_SCHEDULE_CMD);
    return added.id;
}

void reserve_for_started(Change& change, Job& job) {
    NewReservation asked;
    asked.owner = job.attributes.text("Job_Owner");
    asked.host = job.attributes.text("Submit_Host");
    asked.job = &job;
    set_attribute(asked.reservation, "reserve_job", job.id);
    auto made = check_job_of(asked.reservation, job, change.server().state).and_then([&] {
        return add_reservation(change, std::move(asked));
    });
    if (!made)
        log_job(change, job, fmt::format("No reservation is made from it: {}", reason_of(made.error())));
}

void move_job_into(Change& change, Reservation& reservation) {
    Server& server = change.server();
    const std::string id(reservation.attributes.text("qmove"));
    const Job* known = server.state.job(id);
    const Job* current = known == nullptr ? nullptr : change.current(known->sequence);
    const auto complain = [&](std::string_view why) {
        change.then([&log = server.parts.log, of = reservation.id,
                     line = fmt::format("Job {} isn't moved into it: {}", id, why)] {
            log.write(LogEvent::admin, LogClass::reservation, of, line);
        });
    };
    if (current == nullptr || !waits(*current)) return complain("it doesn't wait any more");
    const Queue* known_queue = server.state.queue(reservation.queue_name());
    if (known_queue == nullptr) return complain("its queue has gone");
    Job& job = change.job(*current);
    const Job before = job;
    if (auto ok = enter_queue(change, job, change.queue(*known_queue), Entry::submitted); !ok) {
        job = before;
        return complain(reason_of(ok.error()));
    }
    // Note the job as changed, so that a decision of the present cycle about the job in its old queue is
    // dropped.
    if (server.changed) server.changed->jobs.insert(job.handle);
    log_job(change, job, fmt::format("Job moved into reservation {}, which was made for it", reservation.id));
}

}  // namespace pbs::host

#include "server_plugin/host/life/reservation_life.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/accounting.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/base/mail.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/life/new_reservation.h"
#include "server_plugin/host/state/exec_vnode.h"
#include "server_plugin/host/state/job_comment.h"
#include "server_plugin/host/state/occurrences.h"
#include "server_plugin/host/state/reservation.h"
#include "server_plugin/host/state/reservation_select.h"
#include "server_plugin/host/state/select_spec.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

// The pause before the scheduler is asked again for places for a degraded reservation.
constexpr int64_t kSecondsUntilRetry = 600;
constexpr int64_t kNever = std::numeric_limits<int64_t>::max();

void set_substate(Reservation& reservation, int state, int64_t now) {
    set_attribute(reservation, "reserve_substate", std::to_string(state));
    set_attribute(reservation, "mtime", std::to_string(now));
}

void set_state(Reservation& reservation, int state, int64_t now) {
    set_attribute(reservation, "reserve_state", std::to_string(state));
    set_substate(reservation, state, now);
}

// Removes the attributes that a requested alteration has set. Call it when the alteration has been answered,
// or its occurrence is over.
void forget_alteration(Reservation& reservation) {
    for (const char* name : {"asked_start", "asked_end", "asked_select", "asked_force", "interactive"})
        unset_attribute(reservation, name);
}

// Returns the number of the present occurrence and the number of all occurrences, as "2/5".
std::string occurrence_text(const Reservation& reservation) {
    return fmt::format("{}/{}", reservation.attributes.integer("reserve_index", 1),
                       reservation.attributes.integer("reserve_count", 1));
}

void set_queue(Change& change, const Reservation& reservation, bool enabled, bool started) {
    const Queue* queue = change.server().state.queue(reservation.queue_name());
    if (queue == nullptr) return;
    Queue& changed = change.queue(*queue);
    changed.attributes.set(*queue_table().find("enabled"), {}, enabled ? "True" : "False");
    changed.attributes.set(*queue_table().find("started"), {}, started ? "True" : "False");
}

void log_line(Change& change, const Reservation& reservation, std::string text) {
    change.then([&log = change.server().parts.log, id = reservation.id, line = std::move(text)] {
        log.write(LogEvent::admin, LogClass::reservation, id, line);
    });
}

void account(Change& change, const Reservation& reservation, char type, std::string text) {
    change.then([&accounting = change.server().parts.accounting, id = reservation.id, type,
                 text = std::move(text)] { accounting.reservation(type, id, text); });
}

// Writes the fields that the accounting records B and F share, in OpenPBS's order.
std::string account_text(const Reservation& reservation) {
    const Attributes& a = reservation.attributes;
    std::string text = fmt::format("owner={}", a.text("Reserve_Owner"));
    const auto add = [&](std::string_view key, std::string_view value) {
        if (!value.empty()) text += fmt::format(" {}={}", key, value);
    };
    if (a.text("Reserve_Name") != "NULL") add("name", a.text("Reserve_Name"));
    add("account", a.text("Account_Name"));
    add("queue", a.text("queue"));
    add("ctime", a.text("ctime"));
    add("start", a.text("reserve_start"));
    add("end", a.text("reserve_end"));
    add("duration", std::to_string(reservation.end() - reservation.start()));
    add("nodes", a.text("resv_nodes"));
    add("authorized_users", a.text("Authorized_Users"));
    add("authorized_groups", a.text("Authorized_Groups"));
    for (const AttributeValue& value : a.all_of("Resource_List"))
        add(fmt::format("Resource_List.{}", value.resource()), value.value());
    if (is_standing(reservation)) {
        add("index", a.text("reserve_index"));
        add("count", a.text("reserve_count"));
    }
    return text;
}

// Sends mail to the owner or Mail_Users, if Mail_Points has this point: a, b, c or e. The default is "ac".
void mail_owner(Change& change, const Reservation& reservation, char point, std::string_view what) {
    const std::string_view points = reservation.attributes.has("Mail_Points")
                                        ? reservation.attributes.text("Mail_Points")
                                        : std::string_view("ac");
    if (points.find(point) == std::string_view::npos) return;
    std::vector<std::string> to = reservation.attributes.list("Mail_Users");
    if (to.empty()) to.emplace_back(reservation.attributes.text("Reserve_Owner"));
    change.then([&server = change.server(), id = reservation.id, to = std::move(to),
                 name = std::string(reservation.attributes.text("Reserve_Name")), what = std::string(what)] {
        server.parts.mailer.send(
            id, to, fmt::format("PBS RESERVATION {}", id),
            fmt::format("PBS Reservation Id: {}\nReservation Name:   {}\n{}\n", id, name, what));
    });
}

// Returns the requestor for records of the server's own actions: "Server@" and the host.
std::string server_at(Change& change) {
    return fmt::format("Server@{}", change.server().state.host_name);
}

void begin(Change& change, Reservation& reservation) {
    unset_attribute(reservation, "reserve_retry");
    set_state(reservation, reservation_state::kRunning, change.now());
    set_queue(change, reservation, true, true);
    account(change, reservation, 'B', account_text(reservation));
    log_line(change, reservation, "Reservation begun");
    mail_owner(change, reservation, 'b', "Reservation started");
    change.want_cycle(PBS_SCH_SCHEDULE_NEW);
}

// Deletes a job as qdel does, in the name of `by`.
void delete_job(Change& change, const Job& current, const std::string& by) {
    if (current.state == job_state::kExiting || current.is_leaving() || current.is_subjob()) return;
    Job& job = change.job(current);
    if (job.is_array()) return abort_job(change, job, fmt::format("Job deleted at request of {}", by));
    if (!job.running()) return delete_waiting_job(change, job, by);
    note_deletion(change, job, by);
    set_end_comment(job, JobEvent::terminated, by);
    advance(job, JobEvent::deleted, change.server().state, change.now());
    kill_after(change, job);
}

void end_jobs(Change& change, Reservation& reservation, int state, const std::string& by) {
    set_state(reservation, state, change.now());
    set_queue(change, reservation, false, false);
    for (const Job* job : jobs_of(change.server().state, reservation)) delete_job(change, *job, by);
}

void remove_with_queue(Change& change, const Reservation& reservation) {
    const State& state = change.server().state;
    if (const Queue* queue = state.queue(reservation.queue_name())) {
        // The queue can be removed: all of its jobs are in the history, where a job may name a queue that is
        // gone.
        change.remove(*queue);
    }
    change.remove(reservation);
    change.want_cycle(PBS_SCH_SCHEDULE_CMD);
}

// Ends a reservation whose time is over.
void end(Change& change, Reservation& reservation) {
    account(change, reservation, 'F', account_text(reservation));
    log_line(change, reservation, "Reservation ended");
    mail_owner(change, reservation, 'e', "Reservation ended");
    end_jobs(change, reservation, reservation_state::kDeletingJobs, server_at(change));
}

// Removes a reservation whose time is over before the scheduler has decided about it.
void give_up(Change& change, const Reservation& reservation) {
    account(change, reservation, 'K', "requestor=" + server_at(change));
    log_line(change, reservation, "Reservation deleted: it wasn't confirmed before its end");
    mail_owner(change, reservation, 'a', "Reservation deleted: it wasn't confirmed before its end");
    remove_with_queue(change, reservation);
}

void retry_later(Change& change, Reservation& reservation) {
    set_attribute(reservation, "reserve_retry", std::to_string(change.now() + kSecondsUntilRetry));
}

void ask_for_others(Change& change, Reservation& reservation) {
    choose_asked(reservation, change.server().state);
    if (!is_any_asked(reservation)) return retry_later(change, reservation);
    change.want_cycle(PBS_SCH_SCHEDULE_CMD);
}

void degrade(Change& change, Reservation& reservation) {
    set_state(reservation, reservation_state::kDegraded, change.now());
    log_line(change, reservation, "Reservation degraded: a vnode of it takes no jobs");
    ask_for_others(change, reservation);
}

// Makes a degraded reservation a confirmed one again, because its vnodes are back. If its start has passed,
// the next call of look_at() begins it.
void restore(Change& change, Reservation& reservation) {
    unset_attribute(reservation, "reserve_retry");
    set_state(reservation, reservation_state::kConfirmed, change.now());
    log_line(change, reservation, "Reservation no longer degraded: its vnodes take jobs again");
}

// Returns whether it is time to ask the scheduler again for vnodes for a degraded reservation.
bool is_retry_due(const Reservation& reservation, int64_t now) {
    return reservation.attributes.has("reserve_retry") &&
           now >= reservation.attributes.integer("reserve_retry", 0);
}

void retry(Change& change, Reservation& reservation) {
    unset_attribute(reservation, "reserve_retry");
    ask_for_others(change, reservation);
}

// Restores a degraded reservation whose vnodes are back; begins it at its start; or asks for other vnodes
// when a retry is due. Returns false if none of the three was due.
bool look_at_degraded(Change& change, const Reservation& current, int64_t now) {
    if (!lacks_vnodes(current, current.places, change.server().state)) {
        restore(change, change.reservation(current));
        return true;
    }
    // The start has come, so the reservation begins with the vnodes that it has.
    if (now >= current.start()) {
        begin(change, change.reservation(current));
        return true;
    }
    if (!is_retry_due(current, now)) return false;
    retry(change, change.reservation(current));
    return true;
}

// Updates whether the reservation is degraded, by the vnodes of its running occurrence and of all later ones.
// If vnodes are lacking, asks the scheduler for others, and again when a retry is due. Returns false if
// nothing has changed.
bool look_at_rest(Change& change, const Reservation& current, int64_t now) {
    const State& state = change.server().state;
    const bool lacks =
        later_lacks_vnodes(current, state) ||
        (current.state() == reservation_state::kRunning && lacks_vnodes(current, current.places, state));
    const bool was_degraded = is_degraded(current);
    if (!was_degraded && !lacks) return false;
    if (was_degraded && lacks && !is_retry_due(current, now)) return false;
    Reservation& reservation = change.reservation(current);
    if (!was_degraded) {
        set_substate(reservation, reservation_state::kDegraded, now);
        log_line(change, reservation, "Reservation degraded: a vnode of it takes no jobs");
        ask_for_others(change, reservation);
    } else if (lacks) {
        retry(change, reservation);
    } else {
        unset_attribute(reservation, "reserve_retry");
        set_substate(reservation, reservation.state(), now);
        log_line(change, reservation, "Reservation no longer degraded: its vnodes take jobs again");
    }
    return true;
}

// Ends an occurrence that isn't the last: deletes its running jobs. Waiting jobs stay for the next
// occurrence.
void end_occurrence(Change& change, Reservation& reservation) {
    const std::string by = server_at(change);
    if (reservation.state() == reservation_state::kRunning) {
        account(change, reservation, 'F', account_text(reservation));
        log_line(change, reservation,
                 fmt::format("Reservation occurrence {} ended", occurrence_text(reservation)));
    } else {
        log_line(change, reservation,
                 fmt::format("Reservation occurrence {} was skipped: its end is past",
                             occurrence_text(reservation)));
    }
    forget_alteration(reservation);
    unset_attribute(reservation, "reserve_retry");
    set_state(reservation, reservation_state::kDeletingJobs, change.now());
    set_queue(change, reservation, true, false);
    for (const Job* current : running_jobs_of(change.server().state, reservation)) {
        if (current->state == job_state::kExiting) continue;
        Job& job = change.job(*current);
        note_deletion(change, job, by);
        set_end_comment(job, JobEvent::terminated, by);
        advance(job, JobEvent::deleted, change.server().state, change.now());
        kill_after(change, job);
    }
}

// Moves the reservation to its next occurrence whose end isn't past, or else to the last one: sets its times
// and places.
void take_next(Change& change, Reservation& reservation) {
    const int64_t now = change.now();
    renew_times(reservation);
    int64_t index = reservation.attributes.integer("reserve_index", 1) + 1;
    size_t next = 0;
    for (; next + 1 < reservation.later.size() && reservation.later[next].end <= now; ++next) {
        set_attribute(reservation, "reserve_index", std::to_string(index++));
        log_line(change, reservation,
                 fmt::format("Reservation occurrence {} was skipped: its end is past",
                             occurrence_text(reservation)));
    }
    Reservation::Occurrence one = std::move(reservation.later[next]);
    reservation.later.erase(reservation.later.begin(),
                            reservation.later.begin() + static_cast<std::ptrdiff_t>(next) + 1);
    set_attribute(reservation, "reserve_index", std::to_string(index));
    set_attribute(reservation, "reserve_start", std::to_string(one.start));
    set_attribute(reservation, "reserve_end", std::to_string(one.end));
    set_duration(reservation, one.end - one.start);
    reservation.places = std::move(one.places);
    write_exec_vnodes(reservation, change.server().state);
    set_state(reservation, reservation_state::kConfirmed, now);
    set_queue(change, reservation, true, false);
    log_line(change, reservation,
             fmt::format("Reservation occurrence {} is next", occurrence_text(reservation)));
    change.want_cycle(PBS_SCH_SCHEDULE_CMD);
}

// Returns the instant at which a running reservation without jobs has to be deleted, after its
// delete_idle_time; INT64_MAX: it has a job, or isn't deleted for want of jobs.
int64_t idle_until(const Reservation& reservation) {
    const Attributes& a = reservation.attributes;
    if (reservation.state() != reservation_state::kRunning || !a.has("idle_since")) return kNever;
    return amount_sum(a.integer("idle_since", 0), amount_of(Type::duration, a.text("delete_idle_time")));
}

// Deletes a running reservation that has been without jobs for delete_idle_time. The attribute idle_since has
// the instant since which it has had none. Returns false if nothing has changed.
bool look_at_idleness(Change& change, const Reservation& current, int64_t now) {
    const bool was_idle = current.attributes.has("idle_since");
    const bool may_go = current.attributes.has("delete_idle_time");
    if (!was_idle && !may_go) return false;
    const bool is_idle = may_go && jobs_of(change.server().state, current).empty();
    if (is_idle && was_idle) {
        if (now < idle_until(current)) return false;
        log_line(change, current,
                 fmt::format("Deleting reservation after being idle for {}",
                             current.attributes.text("delete_idle_time")));
        delete_reservation(change, change.reservation(current), server_at(change));
        return true;
    }
    if (is_idle == was_idle) return false;
    Reservation& reservation = change.reservation(current);
    if (is_idle)
        set_attribute(reservation, "idle_since", std::to_string(now));
    else
        unset_attribute(reservation, "idle_since");
    return true;
}

// Does the work that is due for a reservation. Returns false if none is due.
bool look_at(Change& change, const Reservation& current, int64_t now) {
    if (current.is_ending()) {
        if (!jobs_of(change.server().state, current).empty()) return false;
        remove_with_queue(change, current);
        return true;
    }
    if (current.is_between()) {
        if (!running_jobs_of(change.server().state, current).empty()) return false;
        take_next(change, change.reservation(current));
        return true;
    }
    if (current.state() == reservation_state::kUnconfirmed) {
        if (now < current.end()) return false;
        give_up(change, current);
        return true;
    }
    if (now >= current.end()) {
        Reservation& reservation = change.reservation(current);
        if (current.later.empty())
            end(change, reservation);
        else
            end_occurrence(change, reservation);
        return true;
    }
    if (current.state() == reservation_state::kDegraded) return look_at_degraded(change, current, now);
    if (current.state() == reservation_state::kConfirmed && now < current.start() &&
        lacks_vnodes(current, current.places, change.server().state)) {
        degrade(change, change.reservation(current));
        return true;
    }
    if (current.state() == reservation_state::kConfirmed && now >= current.start()) {
        begin(change, change.reservation(current));
        return true;
    }
    if (current.state() == reservation_state::kRunning && look_at_idleness(change, current, now)) return true;
    return !current.is_asked() && look_at_rest(change, current, now);
}

// Splits the scheduler's places into lists, one for each occurrence about which the scheduler was to decide.
// Returns an empty list if the places don't fit these occurrences.
std::vector<std::vector<Place>> by_occurrence(const std::vector<Place>& places,
                                              const Reservation& reservation) {
    std::vector<std::vector<Place>> lists(1);
    for (const Place& place : places) {
        if (place.next_occurrence) lists.emplace_back();
        lists.back().push_back(place);
        lists.back().back().next_occurrence = false;
    }
    const auto later = std::ranges::count_if(reservation.later, &Reservation::Occurrence::asked);
    const size_t asked = static_cast<size_t>(later) + (reservation.keeps_first ? 0 : 1);
    if (lists.size() != asked) lists.clear();
    return lists;
}

}  // namespace

Result<void> settle_resources(Reservation& reservation, Server& server) {
    auto job = as_job(reservation, server.state);
    if (!job) return tl::unexpected(job.error());
    if (auto ok = set_execution_user(*job, server); !ok) return ok;
    take_list(reservation, *job);
    for (const char* name : {"euser", "egroup"})
        set_attribute(reservation, name, std::string(job->attributes.text(name)));
    return {};
}

void note_confirmation(Change& change, const Reservation& reservation, bool altered, const std::string& by) {
    const Attributes& a = reservation.attributes;
    account(change, reservation, 'Y',
            fmt::format("requestor={} start={} end={} nodes={}{}", by, reservation.start(), reservation.end(),
                        a.text("resv_nodes"),
                        is_standing(reservation) ? fmt::format(" count={}", a.text("reserve_count")) : ""));
    log_line(change, reservation, altered ? "Reservation alter confirmed" : "Reservation confirmed");
}

void confirm_reservation(Change& change, Reservation& reservation, const std::vector<Place>& places,
                         int64_t begins, std::string_view by) {
    const Attributes& a = reservation.attributes;
    auto lists = by_occurrence(places, reservation);
    // The places don't fit the occurrences: the plugin has answered an earlier request than the present one.
    if (lists.empty())
        return deny_reservation(change, Reservation(reservation),
                                "the scheduler's answer is about other times than it was asked");
    const bool was_altered = reservation.state() == reservation_state::kBeingAltered;
    if (was_altered) {
        const int64_t start = a.integer("asked_start", reservation.start());
        const int64_t end = a.integer("asked_end", reservation.end());
        set_attribute(reservation, "reserve_start", std::to_string(start));
        set_attribute(reservation, "reserve_end", std::to_string(end));
        set_duration(reservation, end - start);
        // pbs_ralter has checked that the new select has fewer of the same chunks, so set_select() should
        // succeed.
        if (a.has("asked_select")) {
            if (auto ok = set_select(reservation, a.text("asked_select"), change.server().state); !ok)
                return deny_reservation(change, Reservation(reservation), ok.error().message);
            if (const Queue* queue = change.server().state.queue(reservation.queue_name()))
                limit_queue(reservation, change.queue(*queue), change.server().state.resources);
        }
    }
    if (begins != 0) {
        set_attribute(reservation, "reserve_end",
                      std::to_string(begins + (reservation.end() - reservation.start())));
        set_attribute(reservation, "reserve_start", std::to_string(begins));
    }
    const bool ran = was_altered && substate_of(reservation) == reservation_state::kRunning;
    const bool runs = reservation.state() == reservation_state::kRunning;
    auto next = lists.begin();
    if (!reservation.keeps_first) reservation.places = std::move(*next++);
    for (Reservation::Occurrence& one : reservation.later)
        if (std::exchange(one.asked, false)) one.places = std::move(*next++);
    reservation.keeps_first = false;
    write_exec_vnodes(reservation, change.server().state);
    forget_alteration(reservation);
    unset_attribute(reservation, "reserve_retry");
    if (runs) {
        // The reservation goes on. It has got other places for its present occurrence or for later ones.
        set_substate(reservation, reservation_state::kRunning, change.now());
        return log_line(change, reservation, "Reservation confirmed");
    }
    set_state(reservation, reservation_state::kConfirmed, change.now());
    set_queue(change, reservation, true, false);
    note_confirmation(change, reservation, was_altered,
                      by.empty() ? "Scheduler@" + change.server().state.host_name : std::string(by));
    mail_owner(change, reservation, 'c', "Reservation confirmed");
    if (begins != 0) move_job_into(change, reservation);
    if (change.now() < reservation.start()) return;
    if (!ran) return begin(change, reservation);
    set_state(reservation, reservation_state::kRunning, change.now());
    set_queue(change, reservation, true, true);
    change.want_cycle(PBS_SCH_SCHEDULE_NEW);
}

void deny_reservation(Change& change, const Reservation& current, std::string_view why) {
    if (current.state() == reservation_state::kBeingAltered) {
        Reservation& reservation = change.reservation(current);
        if (current.attributes.has("asked_force")) {
            log_line(change, current, fmt::format("Reservation alter is forced, though: {}", why));
            return confirm_reservation(change, reservation, current.places);
        }
        const int64_t before = current.attributes.integer("reserve_substate", reservation_state::kConfirmed);
        set_state(reservation, static_cast<int>(before), change.now());
        forget_alteration(reservation);
        log_line(change, current, fmt::format("Reservation alter denied: {}", why));
        return;
    }
    if (is_degraded(current)) {
        retry_later(change, change.reservation(current));
        log_line(change, current, fmt::format("Reservation stays degraded: {}", why));
        return;
    }
    account(change, current, 'K', "requestor=" + server_at(change));
    log_line(change, current, fmt::format("Reservation denied: {}", why));
    mail_owner(change, current, 'a', fmt::format("Reservation denied: {}", why));
    remove_with_queue(change, current);
}

void take_hosts(Change& change, const Reservation& maintenance) {
    const State& state = change.server().state;
    const auto host = [&](const Place& place) {
        const Node* node = state.node(place.node);
        const std::string_view named =
            node == nullptr ? "" : node->attributes.text("resources_available", "host");
        return named.empty() ? host_of(place, state) : std::string(named);
    };
    std::set<std::string> hosts;
    for (const Place& place : maintenance.places) hosts.insert(host(place));
    // Removes, from the places of an occurrence, the chunks that use these hosts in whole or in part. Returns
    // whether it has removed any.
    const auto take = [&](std::vector<Place>& places, int64_t start, int64_t end) {
        if (end <= maintenance.start() || start >= maintenance.end()) return false;
        const size_t before = places.size();
        for (auto chunk = places.begin(); chunk != places.end();) {
            const auto next =
                std::find_if(chunk + 1, places.end(), [](const Place& place) { return !place.joined; });
            const bool is_taken =
                std::any_of(chunk, next, [&](const Place& place) { return hosts.contains(host(place)); });
            chunk = is_taken ? places.erase(chunk, next) : next;
        }
        return places.size() != before;
    };
    for (const auto& [number, current] : state.reservations()) {
        if (is_maintenance(current) || current.is_ending() ||
            current.state() == reservation_state::kUnconfirmed)
            continue;
        Reservation other = current;
        const bool first = take(other.places, other.start(), other.end());
        bool is_taken = first;
        for (Reservation::Occurrence& one : other.later)
            is_taken = take(one.places, one.start, one.end) || is_taken;
        if (!is_taken) continue;
        Reservation& changed = change.reservation(current) = std::move(other);
        write_exec_vnodes(changed, state);
        log_line(change, changed,
                 fmt::format("Reservation degraded: {} has taken hosts of it", maintenance.id));
        if (changed.is_asked() || changed.is_between()) continue;
        unset_attribute(changed, "reserve_retry");
        if (first && changed.state() == reservation_state::kConfirmed)
            set_state(changed, reservation_state::kDegraded, change.now());
        set_substate(changed, reservation_state::kInConflict, change.now());
        ask_for_others(change, changed);
    }
}

void delete_reservation(Change& change, Reservation& reservation, std::string_view requestor) {
    const bool own = requestor == reservation.attributes.text("Reserve_Owner");
    account(change, reservation, own ? 'k' : 'K', fmt::format("requestor={}", requestor));
    log_line(change, reservation, fmt::format("Reservation to be deleted at request of {}", requestor));
    if (!own)
        mail_owner(change, reservation, 'a', fmt::format("Reservation deleted at request of {}", requestor));
    if (jobs_of(change.server().state, reservation).empty()) {
        remove_with_queue(change, Reservation(reservation));
        return;
    }
    end_jobs(change, reservation, reservation_state::kBeingDeleted, std::string(requestor));
}

Result<void> look_at_reservations(Server& server, int64_t now) {
    const auto& all = server.state.reservations();
    std::vector<uint64_t> numbers;
    numbers.reserve(all.size());
    for (const auto& [number, reservation] : all) numbers.push_back(number);
    // Repeat, because one round may make further work due. For example, a reservation whose whole time passed
    // while the server was down begins in one round and ends in the next.
    while (!numbers.empty()) {
        Change change(server, now);
        std::erase_if(numbers, [&](uint64_t number) {
            const auto current = all.find(number);
            return current == all.end() || !look_at(change, current->second, now);
        });
        if (numbers.empty()) break;
        if (auto done = change.commit(); !done) return done;
    }
    return {};
}

int64_t next_of_reservations(const State& state) {
    int64_t next = kNever;
    for (const auto& [number, reservation] : state.reservations()) {
        if (reservation.is_ending() || reservation.is_between()) continue;
        const bool waits = reservation.state() == reservation_state::kConfirmed ||
                           reservation.state() == reservation_state::kDegraded;
        next = std::min({next, waits ? reservation.start() : reservation.end(), idle_until(reservation)});
        if (is_degraded(reservation) && reservation.attributes.has("reserve_retry"))
            next = std::min(next, reservation.attributes.integer("reserve_retry", 0));
    }
    return next;
}

}  // namespace pbs::host

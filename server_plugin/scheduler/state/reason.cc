#include "server_plugin/scheduler/state/reason.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "server_plugin/scheduler/model/intern.h"
#include "server_plugin/scheduler/model/job_table.h"
#include "server_plugin/scheduler/model/resources.h"
#include "server_plugin/scheduler/placement/vnodes.h"
#include "values/amount.h"

namespace pbs::sched {
namespace {

using std::chrono::floor;

Instant instant(std::int64_t seconds) {
    return Instant(Seconds(seconds));
}

std::string when(std::int64_t seconds, const rrule::Zone& zone) {
    return ctime_text(instant(seconds), zone);
}

std::string above_maximum(const Reason& r, const ReasonContext& c, std::string_view queue) {
    return fmt::format("Job asks for {}={}, more than the limit {} of queue {}", c.resources.name(r.object),
                       c.resources.format(r.object, r.a), c.resources.format(r.object, r.b), queue);
}

// Writes "Not Running: Insufficient amount of resource: ncpus (R: 4 A: 2 T: 8)", as OpenPBS does. If the job
// can never get the amount, writes the total as the free amount.
std::string insufficient(std::string_view what, std::string_view resource, bool never,
                         std::string_view amounts) {
    return fmt::format("{}: Insufficient amount of {}: {} ({})", never ? "Can Never Run" : "Not Running",
                       what, resource, amounts);
}

// Writes insufficient() with the amounts of the reason.
std::string amounts_text(std::string_view what, std::uint32_t resource, const Reason& r,
                         const ReasonContext& c) {
    const bool never = r.a > r.c;
    const auto amount = [&](std::int64_t number) { return c.resources.format(resource, number); };
    return insufficient(what, c.resources.name(resource), never,
                        fmt::format("R: {} A: {} T: {}", amount(r.a),
                                    amount(never ? r.c : std::max<std::int64_t>(0, r.b)), amount(r.c)));
}

std::string over_quota_text(const Reason& r, const ReasonContext& c) {
    const std::string_view label = c.strings.text(r.object);
    const std::uint32_t resource = c.resources.id(label.substr(label.rfind(' ') + 1));
    const auto amount = [&](std::int64_t number) {
        return resource == kNoResource ? fmt::format("{}", number) : c.resources.format(resource, number);
    };
    const std::string head = fmt::format(
        "{}: Quota {}", r.code == ReasonCode::above_quota ? "Can Never Run" : "Not Running", label);
    if (resource == kNoResource || c.resources.consumable(resource))
        return fmt::format("{} (R: {} U: {} L: {})", head, amount(r.a), amount(r.b), amount(r.c));
    if (c.resources.is_text(resource))
        return fmt::format("{} ({} != {})", head, c.strings.text(static_cast<std::uint32_t>(r.a)),
                           c.strings.text(static_cast<std::uint32_t>(r.c)));
    // Nobody uses these resources up.
    return c.resources.is_boolean(resource) ? fmt::format("{} ({} != {})", head, amount(r.a), amount(r.c))
                                            : fmt::format("{} (R: {} L: {})", head, amount(r.a), amount(r.c));
}

std::string shortage_text(const Reason& r, const ReasonContext& c) {
    const auto pool = static_cast<PoolId>(r.a);
    const Vnodes::Shortage s = c.vnodes.shortage(pool, c.requests[r.object], c.node_size, c.reserved);
    if (s.vnodes) return "Not Running: Not enough free nodes available";
    if (s.resource == kNoResource)
        return s.never ? "Can Never Run: Not enough total nodes available"
                       : "Not Running: No available resources on nodes";
    const std::string_view name = c.resources.name(s.resource);
    if (!s.unmatched.empty()) return insufficient("resource", name, s.never, s.unmatched);
    // Vnodes with the wanted value exist, but none is free.
    if (s.asked == 0) return fmt::format("Not Running: Insufficient amount of resource: {}", name);
    const auto amount = [&](std::int64_t number) { return c.resources.format(s.resource, number); };
    return insufficient("resource", name, s.never,
                        fmt::format("R: {} A: {} T: {}", amount(s.asked), amount(s.free), amount(s.total)));
}

std::string place_short_text(const Reason& r, const ReasonContext& c) {
    const auto resource = static_cast<std::uint32_t>(r.a);
    const Vnode& vnode = c.vnodes[r.object];
    const auto amount = [&](std::int64_t number) { return c.resources.format(resource, number); };
    return insufficient(
        "resource", c.resources.name(resource), false,
        fmt::format("R: {} A: {} T: {} on vnode {}", amount(r.b), amount(std::max<std::int64_t>(0, r.c)),
                    amount(number_of(vnode.available, resource).value_or(0)), vnode.name));
}

std::string load_text(std::int64_t millionths) {
    std::string text = fmt::format("{:.2f}", static_cast<double>(millionths) / 1e6);
    text.erase(text.find_last_not_of('0') + 1);
    if (text.ends_with('.')) text.pop_back();
    return text;
}

// Writes "Not Running: Load of n3: np_load_avg 1.81 >= 1.75".
std::string threshold_text(const Reason& r, const ReasonContext& c) {
    const std::string text =
        fmt::format("Not Running: Load of {}: {}", c.vnodes[static_cast<VnodeSlot>(r.c / 32)].name,
                    c.strings.text(r.object));
    const auto at = static_cast<LoadAt>(r.c % 4);
    if (at == LoadAt::unknown) return text + " isn't known";
    return fmt::format("{} {} {}{} {:g}", text, load_text(r.a),
                       at == LoadAt::too_near ? "allows fewer chunks before it is " : "",
                       values::sign_of(static_cast<values::Comparison>(r.c / 4 % 8)),
                       static_cast<double>(r.b) / 1e6);
}

std::string fragments_text(const Reason& r, std::string_view queue) {
    const std::string nodes = r.a < 0 ? "" : fmt::format("of at least {} nodes", r.a);
    const std::string walltime =
        r.b < 0 ? "" : fmt::format("of at most {} walltime", values::duration_text(Seconds(r.b)));
    return fmt::format("Would fragment queue {}: jobs {}{}{} may start now", queue, nodes,
                       nodes.empty() || walltime.empty() ? "" : " or ", walltime);
}

std::string queue_text(const Reason& r, const ReasonContext& c) {
    const std::string_view queue =
        r.queue < c.queues.size() ? std::string_view(c.queues[r.queue].name) : std::string_view();
    switch (r.code) {
        case ReasonCode::above_queue_maximum:
            return above_maximum(r, c, queue);
        case ReasonCode::below_queue_minimum:
            return fmt::format("Job asks for {}={}, less than the minimum {} of queue {}",
                               c.resources.name(r.object), c.resources.format(r.object, r.a),
                               c.resources.format(r.object, r.b), queue);
        case ReasonCode::above_queue_nodes:
            return fmt::format("Job needs {} nodes, queue {} has {}", r.a, queue, r.b);
        case ReasonCode::not_in_acl:
            return fmt::format("Owner is not allowed to use queue {}", queue);
        case ReasonCode::queue_not_started:
            return "Not Running: Queue not started.";
        case ReasonCode::no_scheduler:
            return fmt::format("No scheduler serves queue {}: none has partition {}", queue,
                               c.strings.text(r.object));
        case ReasonCode::queue_nodes_busy:
            return fmt::format("Not enough free nodes in queue {}: job needs {}, {} free", queue, r.a, r.b);
        case ReasonCode::queue_resource_busy:
            return amounts_text("queue resource", r.object, r, c);
        case ReasonCode::queue_closed:
            if (r.a == 0) return fmt::format("Queue {} is outside its time windows", queue);
            return fmt::format("Queue {} is outside its time windows until {}", queue, when(r.a, c.zone));
        case ReasonCode::suspended_until:
            if (r.a == 0) return fmt::format("Suspended until a time_window of queue {} opens", queue);
            return fmt::format("Suspended until time_window {} opens, {}", c.strings.text(r.object),
                               when(r.a, c.zone));
        case ReasonCode::queue_drained:
            return fmt::format("Queue {} is being drained for job {}", queue, c.jobs.id[r.object]);
        case ReasonCode::fragments:
            return fragments_text(r, queue);
        case ReasonCode::no_hosts:
            if (r.object == 0) return fmt::format("There are no vnodes for queue {}", queue);
            return fmt::format("There are no vnodes for queue {} on host {}", queue,
                               c.strings.text(r.object));
        case ReasonCode::hosts_busy:
        case ReasonCode::hosts_too_small:
            return shortage_text(r, c);
        case ReasonCode::vnodes_busy:
            return "Not Running: Job is suspended, and its vnodes have no room for it";
        case ReasonCode::set_busy:
            return fmt::format("Not Running: Placement set {} has too few free resources",
                               c.strings.text(r.object));
        case ReasonCode::sets_too_small:
            return "Can Never Run: can't fit in the largest placement set, and can't span psets";
        case ReasonCode::hosts_loaded:
            return fmt::format("Hosts of queue {} are loaded above {}%", queue, r.a);
        case ReasonCode::hosts_at_max_load:
            return "Not Running: Load of hosts is at its maximum";
        case ReasonCode::hosts_at_threshold:
            return threshold_text(r, c);
        case ReasonCode::hosts_reserved:
            return "Not Running: Vnodes with room are reserved for jobs that request a resource of theirs";
        case ReasonCode::queue_reserved:
            return fmt::format("Not Running: Queue {} is reserved for jobs that request {}", queue,
                               c.resources.name(r.object));
        case ReasonCode::hosts_systime:
            return fmt::format("Hosts of queue {} spend more than {}% of their time in the system", queue,
                               r.a);
        case ReasonCode::hosts_full:
            return fmt::format("Hosts of queue {} run their limit of {} jobs", queue, r.a);
        case ReasonCode::reserved:
        case ReasonCode::booked:
            return "Not Running: Job would conflict with reservation or top job";
        case ReasonCode::not_booked:
            return fmt::format("Not Running: Reservation of queue {} isn't running", queue);
        case ReasonCode::place_closed:
            return fmt::format("Not Running: Vnode {} takes no jobs of queue {} now", c.vnodes[r.object].name,
                               queue);
        case ReasonCode::place_unwanted:
            return fmt::format("Not Running: Vnode {} lacks values that the job asks for",
                               c.vnodes[r.object].name);
        case ReasonCode::place_ruled_out:
            if (r.a != 0)
                return fmt::format("Not Running: Vnode {} is reserved for jobs that request {}",
                                   c.vnodes[r.object].name,
                                   c.resources.name(static_cast<std::uint32_t>(r.b)));
            return fmt::format("Not Running: The policy or the job's host excludes vnode {}",
                               c.vnodes[r.object].name);
        case ReasonCode::place_shared:
            return fmt::format("Not Running: Vnode {} has other jobs, or is exclusive to one",
                               c.vnodes[r.object].name);
        case ReasonCode::place_kept:
            return fmt::format("Not Running: Vnode {} is kept for a reservation", c.vnodes[r.object].name);
        case ReasonCode::place_short:
            return place_short_text(r, c);
        case ReasonCode::place_unknown:
            return "Not Running: A vnode of the place doesn't exist any more";
        case ReasonCode::place_too_large:
            return "Not Running: The amounts of the place are too large";
        default:
            return {};
    }
}

bool is_entity_limit(ReasonCode code) {
    return code >= ReasonCode::queue_run_all && code <= ReasonCode::server_amount_project;
}

// Writes the reason in OpenPBS's words.
std::string run_limit_text(bool in_queue, EntityKind kind, const Reason& r, const ReasonContext& c) {
    static constexpr std::array kKinds = {"", "User", "Group", "Project"};
    static constexpr std::array kNames = {"", "user", "group", "project"};
    const auto at = static_cast<std::size_t>(kind);
    const std::string where = in_queue ? "Queue " + c.queues[r.queue].name : "Server";
    if (kind == EntityKind::all) return where + " job limit has been reached.";
    if (r.object != 0)
        return fmt::format("{} job limit reached for {} {}", where, kNames[at], c.strings.text(r.object));
    const bool of_user = kind == EntityKind::user;
    const bool of_project = kind == EntityKind::project;
    const std::string in = in_queue ? "queue " + c.queues[r.queue].name + (of_project ? "'s" : "") : "server";
    return fmt::format("{} has reached {} running {}limit.", kKinds[at], in, of_user ? "job " : "");
}

std::string amount_limit_text(bool in_queue, EntityKind kind, const Reason& r, const ReasonContext& c) {
    static constexpr std::array kNames = {"overall", "user", "group", "project"};
    const std::string_view name = kNames[static_cast<std::size_t>(kind)];
    const std::string_view resource = c.resources.name(r.object);
    const std::string in = in_queue ? "queue " + c.queues[r.queue].name : "complex";
    if (kind == EntityKind::all)
        return fmt::format("would exceed overall limit on resource {} in {}", resource, in);
    if (r.c != 0)
        return fmt::format("would exceed {} {}'s limit on resource {} in {}", name,
                           c.strings.text(static_cast<std::uint32_t>(r.c)), resource, in);
    return fmt::format("{} per-{} limit reached on resource {}",
                       in_queue ? "Queue " + c.queues[r.queue].name : "Server", name, resource);
}

std::string entity_limit_text(const Reason& r, const ReasonContext& c) {
    const auto number = static_cast<int>(r.code) - static_cast<int>(ReasonCode::queue_run_all);
    const auto kind = static_cast<EntityKind>(number % 4);
    const bool in_queue = number / 4 % 2 == 0;
    return "Not Running: " +
           (number < 8 ? run_limit_text(in_queue, kind, r, c) : amount_limit_text(in_queue, kind, r, c));
}

std::string time_reason_text(const Reason& r, const ReasonContext& c) {
    switch (r.code) {
        case ReasonCode::dedicated_time:
            return fmt::format("Dedicated time until {}", when(r.a, c.zone));
        case ReasonCode::dedicated_unknown:
            return "Waiting for the first answer of dedicated_time_command";
        case ReasonCode::into_dedicated:
            return fmt::format("Would run into dedicated time at {}", when(r.a, c.zone));
        case ReasonCode::not_dedicated:
            if (r.a == 0) return "Waiting for dedicated time, none is scheduled";
            return fmt::format("Waiting for dedicated time at {}", when(r.a, c.zone));
        case ReasonCode::past_dedicated:
            return fmt::format("Would run past the end of dedicated time at {}", when(r.a, c.zone));
        case ReasonCode::prime_limit:
            return fmt::format("Exceeds primetime walltime limit ({})", values::duration_text(Seconds(r.a)));
        case ReasonCode::nonprime_drain:
            return fmt::format("System draining for non-primetime at {}", time_text(instant(r.a), c.zone));
        case ReasonCode::prime_boundary:
            return fmt::format("Job would cross into {} at {}", r.b != 0 ? "primetime" : "non-primetime",
                               when(r.a, c.zone));
        case ReasonCode::window_boundary:
            return fmt::format("Job would run past the end of its queue's time window at {}",
                               when(r.a, c.zone));
        case ReasonCode::prime_only:
            if (r.a == 0) return "Job will run in primetime only, and none is scheduled";
            return fmt::format("Job will run in primetime only, from {}", when(r.a, c.zone));
        case ReasonCode::non_prime_only:
            if (r.a == 0) return "Job will run in nonprimetime only, and primetime doesn't end";
            return fmt::format("Job will run in nonprimetime only, from {}", when(r.a, c.zone));
        default:
            return {};
    }
}

}  // namespace

std::size_t ReasonHash::operator()(const Reason& reason) const {
    std::uint64_t h = static_cast<std::uint64_t>(reason.code);
    const auto mix = [&](std::uint64_t value) {
        h = (h ^ value) * 0x9E3779B97F4A7C15ULL;
        h ^= h >> 29;
    };
    mix(std::uint64_t{reason.queue} << 32 | reason.object);
    mix(static_cast<std::uint64_t>(reason.a));
    mix(static_cast<std::uint64_t>(reason.b));
    mix(static_cast<std::uint64_t>(reason.c));
    return h;
}

std::string awaited_text(const Reason& r, const Interner& strings) {
    switch (r.code) {
        case ReasonCode::dedicated_time:
        case ReasonCode::into_dedicated:
        case ReasonCode::past_dedicated:
        case ReasonCode::dedicated_unknown:
            return "dedicated time has ended";
        case ReasonCode::not_dedicated:
            return "dedicated time begins";
        case ReasonCode::prime_only:
            return "prime time begins";
        case ReasonCode::non_prime_only:
        case ReasonCode::nonprime_drain:
            return "prime time has ended";
        case ReasonCode::prime_limit:
            return "no more of prime time is left than its limit";
        case ReasonCode::prime_boundary:
            return r.b != 0 ? "prime time begins" : "prime time has ended";
        case ReasonCode::queue_closed:
        case ReasonCode::suspended_until:
            return "the queue's time_window opens";
        case ReasonCode::window_boundary:
            return "the queue's time_window has closed";
        case ReasonCode::over_quota:
        case ReasonCode::above_quota: {
            const std::string_view label = strings.text(r.object);
            return fmt::format("quota {} doesn't hold", label.substr(0, label.find(' ')));
        }
        case ReasonCode::hosts_at_threshold:
            return "jobs that have just started count no more as load";
        case ReasonCode::hosts_busy:
            return "reservations have ended";
        default:
            return "the time for it has come";
    }
}

bool is_of_entity(ReasonCode code) {
    using enum ReasonCode;
    const auto in = [code](ReasonCode first, ReasonCode last) { return first <= code && code <= last; };
    return in(queue_run_user, queue_run_project) || in(server_run_user, server_run_project) ||
           in(queue_amount_user, queue_amount_project) || in(server_amount_user, server_amount_project);
}

bool is_rejection(ReasonCode code) {
    switch (code) {
        case ReasonCode::fits_no_queue:
        case ReasonCode::small_job_walltime:
        case ReasonCode::large_job_walltime:
        case ReasonCode::over_allocation:
            return true;
        default:
            return false;
    }
}

std::string text(const Reason& r, const ReasonContext& c) {
    if (is_entity_limit(r.code)) return entity_limit_text(r, c);
    switch (r.code) {
        case ReasonCode::nothing:
            return {};
        case ReasonCode::fits_no_queue:
            if (r.b < 0) return fmt::format("Job rejected: {} nodes fit no batch queue", r.a);
            return fmt::format("Job rejected: {} nodes for {} fit no batch queue", r.a,
                               values::duration_text(Seconds(r.b)));
        case ReasonCode::no_batch_queues:
            return "The policy has no batch queues";
        case ReasonCode::no_such_queue:
            return fmt::format("Batch queue {} of the policy doesn't exist", c.strings.text(r.object));
        case ReasonCode::small_job_walltime:
            return fmt::format("Job rejected: exceeds the walltime limit ({}) of jobs of up to {} nodes",
                               values::duration_text(Seconds(r.a)), r.b);
        case ReasonCode::large_job_walltime:
            return fmt::format("Job rejected: exceeds the walltime limit ({}) of jobs of more than {} nodes",
                               values::duration_text(Seconds(r.a)), r.b);
        case ReasonCode::over_allocation:
            return fmt::format(
                "Job rejected: group {} has used {:.3f} node-hours of its allocation of {:.3f} node-hours",
                c.strings.text(r.object), static_cast<double>(r.a) / 1000, static_cast<double>(r.b) / 1000);
        case ReasonCode::no_allocation:
            return fmt::format("Group {} is not in the allocations file", c.strings.text(r.object));
        case ReasonCode::allocations_unread:
            return "The allocations of groups can't be read";
        case ReasonCode::no_shares:
            return "Can Never Run: Job has zero shares for fairshare";
        case ReasonCode::under_threshold:
            return "Not Running: Job is under job_sort_formula threshold value";
        case ReasonCode::found_at_start:
            return "Was found queued in a batch queue at the start of the server: waits until it is moved to "
                   "a submit queue";
        case ReasonCode::other:
            return std::string(c.strings.text(r.object));
        case ReasonCode::server_resource_busy:
            return amounts_text("server resource", r.object, r, c);
        case ReasonCode::queue_value_differs:
        case ReasonCode::server_value_differs:
            return insufficient(
                r.code == ReasonCode::queue_value_differs ? "queue resource" : "server resource",
                c.resources.name(r.object), true, c.strings.text(static_cast<std::uint32_t>(r.a)));
        case ReasonCode::over_quota:
        case ReasonCode::above_quota:
            return over_quota_text(r, c);
        case ReasonCode::user_job_limit:
            return fmt::format("Owner runs the limit of {} jobs", r.a);
        case ReasonCode::subjob_limit:
            return fmt::format(
                "Not Running: {} subjobs of the array are running, the most that the policy allows", r.a);
        case ReasonCode::subjobs_together:
            return fmt::format("Not Running: {} subjobs of the array start together, and {} of them fit now",
                               r.a, r.b);
        case ReasonCode::dedicated_jobs_limit:
            return fmt::format("The limit of {} jobs in dedicated time are running", r.a);
        case ReasonCode::request_unsupported:
            return "Can Never Run: " + c.requests[r.object].not_supported();
        case ReasonCode::after_top_job:
            return r.a != 0 ? "Not Running: Draining system to allow starving job to run"
                            : "Not Running: Job would break strict sorted order";
        default:
            break;
    }
    auto line = time_reason_text(r, c);
    if (line.empty()) return queue_text(r, c);
    return r.c != 0 ? line + "; the job asks for no walltime" : line;
}

std::string text_with_details(const Reason& r, const ReasonContext& c) {
    std::string line = text(r, c);
    if (is_entity_limit(r.code))
        return line + (r.code < ReasonCode::queue_amount_all
                           ? fmt::format(" ({})", r.a)
                           : fmt::format(" (asks for {}, limit {})", c.resources.format(r.object, r.a),
                                         c.resources.format(r.object, r.b)));
    switch (r.code) {
        case ReasonCode::after_top_job:
            return line + fmt::format(" (job {} is to start first)", c.jobs.id[r.object]);
        case ReasonCode::reserved:
            return line + fmt::format(" (job {})", c.jobs.id[r.object]);
        case ReasonCode::booked:
            return line + fmt::format(" (reservation {})", c.strings.text(r.object));
        case ReasonCode::queue_not_started:
            return line + fmt::format(" ({})", c.queues[r.queue].name);
        default:
            return line;
    }
}

namespace {

void append_ctime(std::string& text, Instant t, const rrule::Zone& zone) {
    const auto local = zone.local(t);
    const auto day = floor<std::chrono::days>(local);
    const std::chrono::year_month_day date{day};
    const std::chrono::hh_mm_ss time{local - day};
    static constexpr const char* kWeekdays[] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static constexpr const char* kMonths[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                              "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    // Write the text without fmt, which is slower, because every cycle that starts a job writes it.
    text += kWeekdays[std::chrono::weekday{day}.c_encoding()];
    const auto two_digits = [&](char before, auto number, char fill) {
        text += before;
        text += number < 10 ? fill : static_cast<char>('0' + number / 10);
        text += static_cast<char>('0' + number % 10);
    };
    text += ' ';
    text += kMonths[static_cast<unsigned>(date.month()) - 1];
    two_digits(' ', static_cast<unsigned>(date.day()), ' ');
    two_digits(' ', time.hours().count(), '0');
    two_digits(':', time.minutes().count(), '0');
    two_digits(':', time.seconds().count(), '0');
    text += ' ';
    text += std::to_string(static_cast<int>(date.year()));
}

}  // namespace

std::string ctime_text(Instant t, const rrule::Zone& zone) {
    std::string text;
    append_ctime(text, t, zone);
    return text;
}

std::string time_text(Instant t, const rrule::Zone& zone) {
    const auto local = zone.local(t);
    return values::duration_text(local - floor<std::chrono::days>(local));
}

std::string_view ctime_text(Instant t, const rrule::Zone& zone, LastCtime& last) {
    constexpr std::size_t kSecondsAt = 17;
    if (!last.text.empty() && t >= last.at) {
        // Change only the seconds: the offset of a zone doesn't change within a minute.
        char* const digits = &last.text[kSecondsAt];
        const auto second = (digits[0] - '0') * 10 + (digits[1] - '0') + (t - last.at).count();
        if (second < 60) {
            digits[0] = static_cast<char>('0' + second / 10);
            digits[1] = static_cast<char>('0' + second % 10);
            last.at = t;
            return last.text;
        }
    }
    last.text.clear();
    append_ctime(last.text, t, zone);
    last.at = t;
    return last.text;
}

std::string started_text(std::string_view now, bool special) {
    std::string text;
    text.reserve(64);
    text = "Started on ";
    text += now;
    if (special) text += " (special access job)";
    return text;
}

std::string_view without_verdict(std::string_view text) {
    constexpr std::string_view kWords = "Not Running: ";
    if (text.starts_with(kWords)) text.remove_prefix(kWords.size());
    return text;
}

}  // namespace pbs::sched

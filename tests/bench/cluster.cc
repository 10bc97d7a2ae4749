#include "tests/bench/cluster.h"

#include <cstdlib>

namespace pbs::sched::bench {
namespace {

enum Ids : std::uint32_t { ncpus, mem, walltime, ssinodes, rack, selection };
constexpr std::int64_t kGb = 1 << 30;
constexpr std::int64_t kHour = 3600;

Settings origin_policy(const UserLimits& limits) {
    Settings s;
    s.name = "origin";
    s.algorithm = Algorithm::origin;
    s.submit_queue = {{"submit"}};
    s.special_queue = {{"special"}};
    s.batch_queues = {{"q1"}, {"q2"}, {"q3"}, {"q4"}, {"q5"}};
    s.enforce_prime_time = {true};
    s.prime_time_wallt_limit = Seconds(4 * kHour);
    s.prime_time_small_node_limit = 2;
    s.prime_time_small_wallt_limit = Seconds(6 * kHour);
    s.sort_by_past_usage = {true};
    s.avoid_fragmentation = {false};
    s.max_queued_time = Seconds(1000 * kHour);
    s.max_user_run_jobs = limits.jobs;
    return s;
}

Settings shared_policy() {
    Settings s;
    s.name = "origin";
    s.algorithm = Algorithm::standard;
    s.by_queue = false;
    s.help_starving_jobs = false;
    s.fairshare = true;
    s.fairshare_group = "shares";
    return s;
}

FsGroup shares_of(std::int64_t users) {
    constexpr std::int64_t kGroups = 20;
    FsGroup group;
    group.name = "shares";
    group.usage_formula = "ncpus*walltime";
    for (std::int64_t i = 0; i < kGroups; ++i)
        group.elements.push_back({"group" + std::to_string(i), "root", 10 + i});
    for (std::int64_t i = 0; i < users; ++i)
        group.elements.push_back(
            {"user" + std::to_string(i), "group" + std::to_string(i % kGroups), 1 + i % 7});
    return group;
}

}  // namespace

BigCluster::BigCluster(std::int64_t vnodes, std::int64_t jobs, const UserLimits& limits, Drained drained,
                       void (*tune)(Settings& policy), Shared shared)
    : scheduler(rrule::Zone::utc()),
      // Monday, 23 November 2026, at 10:00
      now(std::chrono::sys_days{std::chrono::year{2026} / 11 / 23} + std::chrono::hours(10)) {
    scheduler.resource_defined({ncpus, ResourceKind::integer, "ncpus", true});
    scheduler.resource_defined({mem, ResourceKind::size, "mem", true});
    scheduler.resource_defined({walltime, ResourceKind::duration, "walltime", false});
    scheduler.resource_defined({ssinodes, ResourceKind::integer, "ssinodes", true});
    scheduler.sched_changed({"default", true, "", ""});
    const char* names[] = {"submit", "special", "q1", "q2", "q3", "q4", "q5"};
    for (std::uint64_t i = 0; i < 7; ++i) {
        QueueRecord queue;
        queue.queue = QueueHandle(i + 1);
        queue.name = names[i];
        // Each queue takes larger and longer jobs than the queue before it, as the manual advises. The last
        // queue takes jobs of any size.
        const auto rank = static_cast<std::int64_t>(i) - 1;
        const std::vector<Amount> most = {{ncpus, 8 * rank, {}}, {walltime, 3 * rank * kHour, {}}};
        const std::vector<Amount> available = {{ssinodes, vnodes * 4, {}}};
        if (i >= 2 && i < 6) queue.resources_max = most;
        if (i >= 2) queue.resources_available = available;
        if (i >= 2) queue.max_running = vnodes;
        if (i >= 2) queue.max_user_run = limits.in_queue;
        scheduler.queue_changed(queue);
    }
    ServerRecord server;
    server.max_user_run = limits.in_server;
    if (!scheduler.server_changed(server)) std::abort();
    for (std::int64_t i = 0; i < vnodes; ++i) {
        cpus_.push_back(4LL << pick(0, 4));
        send_vnode(cpus_.size() - 1, {});
    }
    Configuration configuration;
    Settings s = origin_policy(limits);
    if (shared == Shared::yes) {
        s = shared_policy();
        users_ = 1000;
        configuration.fs_groups["shares"] = shares_of(users_);
    }
    auto window = rrule::Window::make(
        {"FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR", std::chrono::hours(8), std::chrono::hours(17), true},
        rrule::Zone::utc());
    if (!window) std::abort();
    configuration.prime = s.prime = rrule::WindowSet({*window});
    if (tune != nullptr) tune(s);
    configuration.policies["origin"] = s;
    configuration.scheds["default"] = {"origin"};
    if (!scheduler.set_configuration(configuration)) std::abort();
    jobs_.reserve(static_cast<std::size_t>(jobs) + 16);
    if (drained == Drained::yes) drain();
    for (std::int64_t i = 0; i < jobs; ++i) add_job();
}

void BigCluster::send_vnode(std::size_t number, std::string_view rack_of_it) {
    const std::string name = "n" + std::to_string(number);
    std::vector<Amount> available = {{ncpus, cpus_[number], {}}, {mem, cpus_[number] * 4 * kGb, {}}};
    if (!rack_of_it.empty()) available.push_back({rack, 0, rack_of_it});
    VnodeRecord vnode;
    vnode.vnode = VnodeHandle(number + 1);
    vnode.name = vnode.host = name;
    vnode.resources_available = available;
    scheduler.vnode_changed(vnode);
}

void BigCluster::limit_users() {
    std::vector<std::string> names;
    for (std::int64_t i = 0; i < users_; i += 3) names.push_back("user" + std::to_string(i));
    const auto vnodes = static_cast<std::int64_t>(cpus_.size());
    std::vector<EntityLimitRecord> limits = {
        {.entity = EntityKind::user, .name = {}, .most = vnodes / 400},
        {.entity = EntityKind::user, .name = {}, .resource = ncpus, .most = vnodes / 40}};
    for (const std::string& name : names)
        limits.push_back({.entity = EntityKind::user, .name = name, .most = vnodes / 300});
    ServerRecord server;
    server.limits = limits;
    if (!scheduler.server_changed(server)) std::abort();
}

void BigCluster::divide_by_rack() {
    constexpr std::size_t kVnodesOfARack = 40;
    scheduler.resource_defined({rack, ResourceKind::string, "rack", false});
    for (std::size_t i = 0; i < cpus_.size(); ++i) send_vnode(i, "r" + std::to_string(i / kVnodesOfARack));
    ServerRecord server;
    server.node_group_enable = true;
    server.node_group_key = "rack";
    if (!scheduler.server_changed(server)) std::abort();
}

void BigCluster::let_preempt() {
    QueueRecord queue;
    queue.queue = QueueHandle(2);
    queue.name = "special";
    queue.priority = 150;
    scheduler.queue_changed(queue);
    scheduler.set_preempt(true);
}

void BigCluster::reserve_vnodes(std::int64_t reservations) {
    scheduler.resource_defined({selection, ResourceKind::string, "select", false});
    for (std::int64_t i = 0; i < reservations; ++i) {
        constexpr std::uint64_t kFirstQueue = 100;
        const std::uint64_t number = kFirstQueue + static_cast<std::uint64_t>(i);
        const std::string name = "R" + std::to_string(number);
        QueueRecord queue;
        queue.queue = QueueHandle(number);
        queue.name = name;
        queue.started = false;
        scheduler.queue_changed(queue);
        const auto vnode = static_cast<std::size_t>(i * 7) % cpus_.size();
        const Amount whole[] = {{ncpus, cpus_[vnode], {}}};
        const Place places[] = {{VnodeHandle(vnode + 1), whole}};
        const std::string select = "1:ncpus=" + std::to_string(cpus_[vnode]);
        const Amount requested[] = {{selection, 0, select}};
        ReservationRecord reservation;
        reservation.reservation = ReservationHandle(number);
        reservation.id = name;
        reservation.queue = queue.queue;
        reservation.start = now + Seconds((i + 1) * kHour);
        reservation.end = reservation.start + Seconds(4 * kHour);
        reservation.requested = requested;
        reservation.places = places;
        scheduler.reservation_changed(reservation);
    }
}

void BigCluster::count_eligible_time() {
    ServerRecord server;
    server.eligible_since = now - Seconds(1000 * kHour);
    if (!scheduler.server_changed(server)) std::abort();
}

void BigCluster::drain() {
    constexpr std::int64_t kWhole = 64;
    constexpr std::uint64_t kLastQueue = 7;
    for (std::size_t i = 0; i < cpus_.size(); ++i) {
        if (cpus_[i] != kWhole) continue;
        Job holder;
        holder.owner = "holder";
        holder.ncpus = 1;
        holder.mem = kGb;
        holder.walltime = Seconds(pick(13, 100) * kHour);
        holder.queued = now - Seconds(2 * kHour);
        holder.started = now - Seconds(kHour);
        holder.queue = kLastQueue;
        holder.state = 'R';
        holder.places = {{VnodeHandle(i + 1), {{ncpus, 1, {}}, {mem, kGb, {}}}}};
        jobs_.push_back(holder);
        send(next_job_++);
    }
    Job waiting;
    waiting.owner = "user0";
    waiting.ncpus = kWhole;
    waiting.mem = kGb;
    waiting.walltime = Seconds(4 * kHour);
    waiting.queued = now - Seconds(2000 * kHour);
    jobs_.push_back(waiting);
    send(next_job_++);
}

void BigCluster::add_job() {
    Job job;
    job.owner = "user" + std::to_string(pick(0, users_ - 1));
    job.ncpus = pick(1, 24);
    job.mem = pick(1, 24) * kGb / 4;
    job.walltime = Seconds(pick(1, 72) * 600);
    job.queued = now - Seconds(pick(1, 100 * kHour));
    if (pick(1, 100) == 1) job.queue = 2;
    jobs_.push_back(job);
    send(next_job_++);
}

void BigCluster::send(std::uint64_t number) {
    const Job& j = jobs_[number];
    const std::string id = std::to_string(number) + ".server";
    const Amount requested[] = {{ncpus, j.ncpus, {}}, {mem, j.mem, {}}, {walltime, j.walltime.count(), {}}};
    std::vector<Place> places;
    for (const auto& [vnode, amounts] : j.places) places.push_back({vnode, amounts});
    JobRecord r;
    r.job = JobHandle(number);
    r.sequence = number;
    r.id = id;
    r.owner = j.owner;
    r.group = "staff";
    r.origin_queue = "submit";
    r.queue = QueueHandle(j.queue);
    r.state = j.state;
    r.has_comment = j.has_comment;
    r.ctime = r.qtime = r.etime = j.queued;
    r.mtime = j.modified == Instant{} ? j.queued : j.modified;
    r.stime = j.started;
    r.accrual = j.accrual;
    r.walltime = j.walltime;
    r.requested = requested;
    r.places = places;
    scheduler.job_changed(now, r);
}

void BigCluster::remove_job(std::uint64_t job) {
    scheduler.job_removed(now, JobHandle(job));
}

void BigCluster::settle() {
    apply(scheduler.cycle(now, "default", CycleTrigger::first));
    const auto running = started_;
    add_job();
    apply(scheduler.cycle(now, "default", CycleTrigger::job_new));
    started_ = running;
}

void BigCluster::apply(const Decisions& decisions) {
    started_.clear();
    for (const Decision& d : decisions.list) {
        const auto number = static_cast<std::uint64_t>(d.job);
        if (d.kind == DecisionKind::reject) {
            remove_job(number);
            continue;
        }
        Job& job = jobs_[number];
        if (d.kind == DecisionKind::accrue) job.accrual = {d.accrue_type, job.accrual.at(now), now};
        job.has_comment = true;
        job.modified = now;
        if (d.kind == DecisionKind::run) {
            job.state = 'R';
            job.started = now;
            job.queue = static_cast<std::uint64_t>(d.queue);
            for (const Place& p : d.places)
                job.places.emplace_back(p.vnode, std::vector<Amount>(p.amounts.begin(), p.amounts.end()));
            started_.push_back(number);
        }
        send(number);
    }
}

}  // namespace pbs::sched::bench

// A job with a kept place has a promised start. On random clusters whose jobs all run for their whole
// walltimes, jobs that start before it never delay this start.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <set>

#include "server_plugin/scheduler/state/explanation.h"
#include "tests/cases.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

constexpr int kDays = 3;

struct Arrival {
    Instant at;
    JobOptions job;
};

// A random cluster with its jobs and its clock.
class Cluster {
  public:
    explicit Cluster(int seed) : random_(static_cast<unsigned>(seed)) {
        const bool origin = seed % 2 == 0;
        make_vnodes();
        if (origin)
            make_origin();
        else
            make_standard();
        world_.configure();
        make_arrivals(origin);
    }

    Instant now() const { return now_; }
    const std::vector<int>& waiting() const { return waiting_; }  // in the order in which jobs are considered
    const std::vector<int>& reserved() const { return reserved_; }
    // Returns false if prime time may leave a job without a kept place on this cluster: it has
    // backfill_prime, or a queue that is open only in prime or in non-prime time.
    bool keeps_promises() const { return keeps_promises_; }
    std::optional<Instant> start_of(int job) const {
        const auto found = starts_.find(job);
        return found == starts_.end() ? std::nullopt : std::optional(found->second);
    }
    Instant promised(int job) const { return promised_.at(job); }
    const JobOptions& options(int job) const { return world_.options(job); }

    // Stops arrivals, and removes all waiting jobs that aren't in `jobs`.
    void keep_only(const std::set<int>& jobs) {
        arrivals_.clear();
        for (const int job : waiting_)
            if (!jobs.contains(job)) {
                world_.finish(job, now_);
                gone_.insert(job);
            }
    }

    // Advances to the next event, and runs a cycle. Returns false if there are no more events.
    bool step() {
        std::optional<Instant> next;
        const auto consider = [&](Instant t) {
            if (t > now_ && (!next || t < *next)) next = t;
        };
        for (const Arrival& arrival : arrivals_) consider(arrival.at);
        for (const auto& [job, end] : ends_) consider(end);
        // at full hours, windows may open or close, and jobs may begin to starve
        consider(now_ + Seconds(kHour) - (now_ - kMonday) % Seconds(kHour));
        // jobs with kept places start at the promised instants
        for (const int job : reserved_) consider(promised_.at(job));
        now_ = *next;
        std::erase_if(ends_, [&](const auto& running) {
            if (running.second > now_) return false;
            world_.finish(running.first, now_);
            return true;
        });
        while (!arrivals_.empty() && arrivals_.front().at <= now_) {
            queued_.insert(world_.job(arrivals_.front().job, now_));
            arrivals_.erase(arrivals_.begin());
        }
        look_ahead();
        const auto outcome = world_.cycle(now_);
        for (const int job : outcome.started) {
            starts_[job] = now_;
            ends_[job] = now_ + Seconds(world_.options(job).walltime);
            queued_.erase(job);
        }
        for (const auto& [job, why] : outcome.rejected) queued_.erase(job);
        return now_ < at(kDays * 24) && !(queued_.empty() && arrivals_.empty());
    }

  private:
    int pick(int from, int to) { return std::uniform_int_distribution(from, to)(random_); }
    bool chance(int percent) { return pick(1, 100) <= percent; }
    rrule::WindowSet daily(int from, int to) { return world_.window("FREQ=DAILY", from, to); }

    void make_vnodes() {
        const int count = pick(1, 5);
        for (int i = 0; i < count; ++i)
            world_.vnode({.name = fmt::format("n{}", i),
                          .ncpus = pick(2, 12),
                          .mem = pick(8, 16) * kGb,
                          .host = fmt::format("h{}", i / pick(1, 2)),
                          .priority = pick(0, 1)});
    }
    void make_origin() {
        Settings& s = world_.origin({});
        const int count = pick(1, 2);
        for (int i = 0; i < count; ++i) {
            world_.queue({.name = fmt::format("b{}", i),
                          .max_running = chance(40) ? pick(1, 5) : -1,
                          .max_user_run = chance(30) ? pick(1, 3) : -1,
                          .max_group_run = chance(20) ? pick(1, 3) : -1,
                          .nodes = chance(60) ? pick(4, 16) : -1,
                          .available_ncpus = chance(30) ? pick(8, 24) : -1});
            s.batch_queues.push_back({fmt::format("b{}", i)});
        }
        world_.queue({.name = "special"});
        s.special_queue = {{"special"}};
        s.max_queued_time = Seconds(pick(1, 8) * kHour);
        s.small_queued_time = Seconds(0);
        s.enforce_prime_time = {chance(60)};
        s.prime_time_wallt_limit = Seconds(2 * kHour);
        s.nonprime_drain_sys = {chance(40)};
        s.max_jobs = chance(25) ? pick(2, 4) : 0;
        s.max_user_run_jobs = chance(25) ? pick(2, 4) : 0;
        s.avoid_fragmentation = {chance(30)};
        world_.prime_time(8, 17);
        if (chance(40)) world_.configuration.dedicated = daily(19, 21);
        if (chance(25)) world_.hours("b0", daily(6, 22));
        make_server();
    }
    void make_standard() {
        Settings& s = world_.policy();
        const ExecutionType type = chance(15)   ? ExecutionType::prime
                                   : chance(15) ? ExecutionType::non_prime
                                                : ExecutionType::any;
        world_.queue({.name = "b0",
                      .max_running = chance(40) ? pick(1, 5) : -1,
                      .max_user_run = chance(30) ? pick(1, 3) : -1,
                      .max_group_run = chance(20) ? pick(1, 3) : -1,
                      .available_ncpus = chance(40) ? pick(8, 24) : -1,
                      .execution_type = type});
        s.strict_ordering = true;
        s.help_starving_jobs = false;
        s.backfill_depth = pick(1, 3);
        s.backfill_prime = chance(30);
        keeps_promises_ = !s.backfill_prime && type == ExecutionType::any;
        s.time_window_spill = Seconds(chance(50) ? 1800 : 0);
        world_.prime_time(8, 17);
        if (chance(40)) world_.configuration.dedicated = daily(19, 21);
        if (chance(30)) world_.hours("b0", daily(6, 22));
        make_server();
    }
    void make_server() {
        const Amount available[] = {{ncpus, pick(12, 30), {}}};
        ServerRecord server;
        server.name = server.host_name = "server";
        if (chance(20)) server.max_running = pick(2, 6);
        if (chance(20)) server.max_user_run = pick(1, 3);
        if (chance(25)) server.resources_available = available;
        world_.server(server);
    }
    void make_arrivals(bool origin) {
        const int count = pick(5, 25);
        for (int i = 0; i < count; ++i) {
            Arrival a{at(0) + Seconds(pick(0, 36 * 60) * kMinute), {}};
            JobOptions& o = a.job;
            o.queue = !origin ? "b0" : chance(10) ? "special" : "submit";
            o.owner = fmt::format("u{}", pick(1, 3));
            o.group = fmt::format("g{}", pick(1, 2));
            o.ncpus = chance(30) ? pick(4, 12) : pick(1, 4);
            if (chance(50)) o.mem = pick(1, 12) * 512 * kMb;
            if (chance(30)) {
                o.select = fmt::format("{}:ncpus={}", pick(1, 5), pick(1, 4));
                if (chance(30)) o.select += fmt::format("+1:ncpus={}:mem={}gb", pick(1, 6), pick(1, 4));
                o.ncpus = o.mem = -1;
                if (chance(50)) o.place = chance(40) ? "scatter" : chance(50) ? "pack" : "free:excl";
            }
            o.walltime = pick(1, chance(20) ? 20 * 60 : 180) * kMinute;
            o.queued = a.at;
            arrivals_.push_back(a);
        }
        std::ranges::stable_sort(arrivals_, {}, &Arrival::at);
    }

    // Finds the jobs for which the next cycle should keep places, and their promised starts, from what
    // Scheduler::explain() says about each queued job.
    void look_ahead() {
        const Settings& s = world_.policy();
        const bool origin = s.algorithm == Algorithm::origin;
        const auto depth = static_cast<std::size_t>(origin ? 1 : s.backfill_depth);
        std::vector<std::pair<std::size_t, int>> places;
        std::map<int, Instant> starts;
        for (const int job : queued_) {
            if (gone_.contains(job)) continue;
            const auto e = world_.scheduler.explain(now_, fmt::format("{}.server", job));
            ASSERT_TRUE(e.has_value());
            places.emplace_back(e->place, job);
            if (e->outcome != JobOutcome::waits || (origin && e->job_class != "waiting")) continue;
            for (const QueueAnswers& queue : e->queues) {
                // An Origin policy keeps a place only by draining a queue. It drains none for a job whose
                // start depends on time alone, such as the opening of its queue.
                if (!queue.earliest_start || (origin && !queue.drained_until)) continue;
                const auto [known, made] = starts.emplace(job, *queue.earliest_start);
                known->second = std::min(known->second, *queue.earliest_start);
            }
        }
        std::ranges::sort(places);
        waiting_.clear();
        reserved_.clear();
        // In dedicated time, a cycle of a standard policy keeps no places, as in OpenPBS.
        const bool keeps_places = origin || !world_.configuration.dedicated.contains(now_);
        for (const auto& [place, job] : places) {
            waiting_.push_back(job);
            if (!keeps_places || !starts.contains(job) || reserved_.size() == depth) continue;
            reserved_.push_back(job);
            promised_[job] = starts.at(job);
        }
    }

    std::mt19937 random_;
    World world_;
    Instant now_ = at(0) - Seconds(1);
    std::vector<Arrival> arrivals_;
    std::set<int> queued_;
    std::set<int> gone_;
    std::map<int, Instant> ends_;
    std::map<int, Instant> starts_;
    std::vector<int> waiting_;
    std::vector<int> reserved_;
    std::map<int, Instant> promised_;
    bool keeps_promises_ = true;
};

// Returns the jobs that precede a job in the order. They may start before it.
std::set<int> before(const std::vector<int>& order, int job) {
    return {order.begin(), std::ranges::find(order, job)};
}

// A promised start, and the jobs that preceded the job in the order when the start was promised.
struct Promise {
    Instant start;
    std::set<int> before;
};

std::string text(Instant t) {
    return fmt::format("{} h {} min", (t - kMonday).count() / 3600, (t - kMonday).count() % 3600 / 60);
}

TEST(Reservation, OnceGivenItIsNeverLater) {
    int promises = 0;
    int kept = 0;
    for (int seed = 1; seed <= pbs::test::cases(40); ++seed) {
        SCOPED_TRACE(seed);
        Cluster cluster(seed);
        std::map<int, Promise> given;
        bool more = true;
        while (more) {
            more = cluster.step();
            if (testing::Test::HasFatalFailure()) return;
            for (auto it = given.begin(); it != given.end();) {
                const int job = it->first;
                const auto& now_before = before(cluster.waiting(), job);
                const bool overtaken = std::ranges::count(cluster.waiting(), job) > 0 &&
                                       !std::ranges::includes(it->second.before, now_before);
                const auto start = cluster.start_of(job);
                if (start) {
                    ASSERT_LE(*start, it->second.start) << "job " << job << " started at " << text(*start)
                                                        << ", promised " << text(it->second.start);
                    ++kept;
                } else if (!overtaken) {
                    ASSERT_LT(cluster.now(), it->second.start) << "job " << job << " didn't start";
                }
                it = start || overtaken ? given.erase(it) : std::next(it);
            }
            for (const int job : cluster.reserved()) {
                if (cluster.start_of(job) || !cluster.keeps_promises()) continue;
                const Instant start = cluster.promised(job);
                const auto [known, made] = given.emplace(job, Promise{start, before(cluster.waiting(), job)});
                promises += made ? 1 : 0;
                ASSERT_LE(start, known->second.start)
                    << "at " << text(cluster.now()) << " the start of job " << job << " moved from "
                    << text(known->second.start) << " to " << text(start);
                known->second.start = start;
            }
        }
    }
    EXPECT_GT(promises, pbs::test::cases(40));
    EXPECT_GT(kept, promises / 2);
}

// Backfilled jobs don't delay the first job: it starts no later than on a cluster without them.
TEST(Reservation, TheJobStartsAsSoonAsWithoutThoseThatAreBackfilled) {
    int compared = 0;
    for (int seed = 1; seed <= pbs::test::cases(40); ++seed) {
        SCOPED_TRACE(seed);
        Cluster with(seed);
        Cluster without(seed);
        while (with.reserved().empty() || with.start_of(with.reserved()[0])) {
            without.step();
            if (!with.step()) break;
        }
        if (with.reserved().empty()) continue;
        const int job = with.reserved()[0];
        if (with.waiting()[0] != job) continue;
        without.keep_only({job});
        const auto run = [&](Cluster& cluster) -> std::optional<Instant> {
            while (!cluster.start_of(job)) {
                if (!cluster.step()) break;
                if (!cluster.start_of(job) && cluster.waiting()[0] != job)
                    return std::nullopt;  // another job has become the first
            }
            return cluster.start_of(job);
        };
        const auto backfilled = run(with);
        const auto alone = run(without);
        if (!backfilled) continue;
        ++compared;
        ASSERT_TRUE(alone);
        ASSERT_LE(*backfilled, *alone)
            << "job " << job << " " << text(*backfilled) << " against " << text(*alone);
    }
    EXPECT_GT(compared, 0);
}

}  // namespace
}  // namespace pbs::sched::test

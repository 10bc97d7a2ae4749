// Sites with random settings, and random events that happen to two copies of a site.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/scheduler/journal.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {

// A site with random settings. A test makes two copies of a site, and lets the same events happen to both.
struct Site {
    World world;
    std::string label;  // C++ code that makes this site, for messages
    std::mt19937 random;
    std::vector<std::string> vnodes;
    std::vector<std::string> submit = {"submit"};
    bool standard = false;
    int bound = -1;              // number of the vnode that serves only the first queue; -1: none
    int of_host = 2;             // number of vnodes on each host
    int load = 0;                // seed of the vnodes' loads; 0: no loads
    bool load_of_hosts = false;  // vnodes of a host have the same load
    Instant load_at{};
    std::int64_t max_load = -1;  // max_load of each vnode, in thousandths; -1: none
    bool hpm_jobs = false;
    bool groups = false;             // some jobs request a placement set
    bool whole_hosts = false;        // some jobs request whole hosts
    bool differ_in_sharing = false;  // vnodes have different `sharing`, and some jobs share
    bool priorities = false;         // Origin's jobs have priorities, too
    bool some_rerunnable = false;    // some jobs are not rerunnable
    bool some_elsewhere = false;     // some jobs wait on other servers
    bool arrays = false;             // some jobs are subjobs of two arrays
    bool ranges = false;             // some jobs have a select_range
    bool spreads = false;            // some jobs have chunk_order, per_host or prefer
    int without_walltime = 5;        // percentage of jobs without a walltime

    int subjobs = 0;  // number of subjobs so far

    // Some jobs are arrays whose subjobs start together. These have random numbers of their own, so that all
    // else is as without them.
    bool together = false;
    bool patient = false;  // such arrays have start_within of some days
    unsigned seed = 0;
    std::mt19937 of_arrays;
    int arrays_made = 0;

    int pick(int from, int to) { return std::uniform_int_distribution(from, to)(random); }
    bool chance(int percent) { return pick(1, 100) <= percent; }

    explicit Site(unsigned seed_, Algorithm algorithm = Algorithm::origin)
        : label(fmt::format("Site({}, Algorithm::{})", seed_,
                            algorithm == Algorithm::origin ? "origin" : "standard")),
          random(seed_),
          seed(seed_),
          of_arrays(seed_) {
        world.keep_journal();
        if (algorithm == Algorithm::origin)
            make_origin();
        else
            make_standard();
        world.configure();
    }
    void make_origin() {
        Settings& s = world.origin({});
        const int count = pick(1, 3);
        for (int i = 0; i < count; ++i) {
            const std::string name = "b" + std::to_string(i);
            QueueOptions queue{.name = name,
                               .max_running = chance(50) ? pick(1, 8) : -1,
                               .max_user_run = chance(20) ? pick(1, 3) : -1,
                               .nodes = chance(70) ? pick(2, 60) : -1,
                               .max_walltime = chance(50) ? pick(1, 12) * kHour : -1};
            if (chance(20)) queue.acl_users = {"u1", "u2"};
            if (chance(20)) queue.available_ncpus = pick(4, 40);
            world.queue(queue);
            s.batch_queues.push_back({name, chance(15) ? "h0" : ""});
            if (chance(20)) world.hours(name, world.window("FREQ=DAILY", 7, 20));
        }
        if (chance(40)) {
            world.queue({.name = "special"});
            s.special_queue = {{"special"}};
            submit.push_back("special");
        }
        if (chance(40)) {
            const int externals = pick(1, 3);
            for (int i = 0; i < externals; ++i) {
                const std::string name = "ext" + std::to_string(i);
                world.queue({.name = name, .max_running = chance(50) ? pick(1, 3) : -1});
                s.external_queues.push_back({name});
                submit.push_back(name);
            }
        }
        if (chance(30)) {
            world.queue({.name = "ded"});
            s.dedicated_queues = {{"ded"}};
            s.max_dedicated_jobs = chance(50) ? 2 : 0;
            submit.push_back("ded");
            world.configuration.dedicated = world.window("FREQ=DAILY", 13, 15);
        }
        world.prime_time(8, 17);
        s.enforce_prime_time = {chance(70)};
        s.prime_time_wallt_limit = Seconds(pick(1, 4) * kHour);
        s.prime_time_small_node_limit = chance(50) ? pick(1, 3) : 0;
        s.prime_time_small_wallt_limit = Seconds(pick(1, 6) * kHour);
        s.max_queued_time = Seconds(chance(50) ? pick(1, 6) * kHour : 0);
        s.interactive_long_wait = Seconds(chance(50) ? kHour : 0);
        s.sort_by_past_usage = {chance(75)};
        s.past_usage_charge = chance(40) ? PastUsageCharge::flat : PastUsageCharge::node_hours;
        s.max_user_run_jobs = chance(20) ? pick(2, 5) : 0;
        s.small_job_max = chance(20) ? 3 : 0;
        s.wallt_limit_large_job = Seconds(chance(50) ? 5 * kHour : 0);
        // The schedule log shows kept places. Without the log, a cycle after an event may leave kept places
        // out.
        if (chance(75)) s.schedule_log = "schedule";
        // Some options are in force only from a date on. Until this date, each cycle considers all jobs.
        for (Since* option : {&s.test_only, &s.avoid_fragmentation, &s.nonprime_drain_sys})
            if (chance(4)) {
                const int hour = pick(7, 20);
                *option = {.from = at(hour, pick(0, 59))};
            }
        const int nodes = pick(1, 8);
        for (int i = 0; i < nodes; ++i) {
            vnodes.push_back("n" + std::to_string(i));
            world.vnode(vnode(i));
        }
        if (chance(20)) {
            ServerRecord server;
            server.max_running = chance(50) ? pick(3, 10) : -1;
            server.max_user_run = chance(50) ? pick(1, 4) : -1;
            world.server(server);
        }
    }
    void make_standard() {
        Settings& s = world.policy();
        world.prime_time(8, 17);
        submit.clear();
        const int count = pick(1, 4);
        for (int i = 0; i < count; ++i) {
            const std::string name = "q" + std::to_string(i);
            QueueOptions queue{.name = name,
                               .started = chance(95),
                               .priority = pick(0, 2),
                               .max_running = chance(30) ? pick(1, 8) : -1,
                               .max_user_run = chance(25) ? pick(1, 3) : -1,
                               .max_group_run = chance(15) ? pick(1, 5) : -1,
                               .max_walltime = chance(25) ? pick(2, 10) * kHour : -1,
                               .backfill_depth = chance(20) ? pick(0, 2) : -1};
            if (chance(12)) queue.acl_users = {"u1", "u2"};
            if (chance(15)) queue.available_ncpus = pick(4, 40);
            if (chance(12))
                queue.execution_type = chance(50) ? ExecutionType::prime : ExecutionType::non_prime;
            world.queue(queue);
            submit.push_back(name);
            if (chance(15)) world.hours(name, world.window("FREQ=DAILY", 7, 20));
        }
        if (chance(20)) {
            world.queue({.name = "ded"});
            s.dedicated_queues = {{"ded"}};
            submit.push_back("ded");
        }
        if (chance(25)) world.configuration.dedicated = world.window("FREQ=DAILY", 13, 15);
        s.schedule_log = "schedule";
        s.by_queue = chance(60);
        s.round_robin = chance(4);
        s.round_robin_all = chance(50);
        s.strict_ordering = chance(25);
        s.help_starving_jobs = chance(65);
        s.max_starve = Seconds(pick(1, 10) * kHour);
        s.backfill_depth = chance(60) ? 1 : pick(0, 3);
        s.backfill_prime = chance(20);
        s.prime_exempt_anytime_queues = chance(50);
        s.time_window_spill = Seconds(chance(50) ? 20 * kMinute : 0);
        if (chance(15)) s.job_sort_formula = chance(20) ? "eligible_time" : "queue_priority*100+ncpus";
        if (chance(20)) s.job_sort_key = {{chance(50) ? "job_priority" : "ncpus", chance(50)}};
        if (chance(10)) s.job_sort_key = {{"walltime", chance(50)}};
        if (chance(5)) s.job_sort_key = {{"ncpus", true}, {"mem", false}};
        const int nodes = pick(1, 8);
        bound = chance(20) ? pick(0, nodes - 1) : -1;
        of_host = pick(1, 4);
        for (int i = 0; i < nodes; ++i) {
            vnodes.push_back("n" + std::to_string(i));
            world.vnode(vnode(i));
        }
        if (chance(25)) {
            const Amount available[] = {{ncpus, pick(8, 60), {}}};
            ServerRecord server;
            server.max_running = chance(40) ? pick(3, 10) : -1;
            server.max_user_run = chance(40) ? pick(1, 4) : -1;
            server.max_group_run = chance(20) ? pick(2, 6) : -1;
            if (chance(30)) server.resources_available = available;
            world.server(server);
        }
        standard = true;
    }
    VnodeOptions vnode(int i, bool free = true) {
        VnodeOptions o{.name = vnodes[static_cast<std::size_t>(i)],
                       .ncpus = 4 + 4 * (i % 5),
                       .mem = (2 + 3 * (i % 7)) * kGb,
                       .host = "h" + std::to_string(i / of_host),
                       .free = free,
                       .priority = i % 3};
        if (i == bound) o.queue = submit[0];
        if (load != 0) {
            o.load = load * ((load_of_hosts ? i / of_host : i) + 3) * 7919 % 12000;
            o.systime = load * (i + 3) * 7907 % 600;
            o.load_at = load_at;
            o.max_load = max_load;
            o.busy = max_load >= 0 && load % 7 == i % 7;
        }
        if (differ_in_sharing) o.sharing = static_cast<Sharing>(i / of_host % 6);
        if (i % 3 == 1) o.gpus = 2;
        if (i % 4 == 2) o.arch = "vector";
        return o;
    }
    struct Range {
        int from;
        int to;
    };
    // Use only one random number in an expression: compilers evaluate operands in different orders, but equal
    // seeds have to make equal sites.
    std::string chunk(Range counts, Range cpus) {
        const int count = pick(counts.from, counts.to);
        return std::to_string(count) + ":ncpus=" + std::to_string(pick(cpus.from, cpus.to));
    }
    // Adds requests that only the standard algorithm supports.
    void ask_for_more(JobOptions& o) {
        o.queue = submit[static_cast<std::size_t>(pick(0, static_cast<int>(submit.size()) - 1))];
        o.priority = pick(-2, 2);
        if (chance(8)) o.gpus = pick(1, 2);
        if (chance(5)) o.run_host = "h" + std::to_string(pick(0, 2));
        if (chance(12)) ask_for_a_host(o);
        if (!chance(12)) return;
        o.select = chunk({1, 2}, {1, 8}) + "+";
        o.select += chunk({1, 3}, {1, 4});
        if (chance(20)) o.select += ":arch=vector";
        o.ncpus = o.mem = o.gpus = -1;
        o.place = chance(60) ? "" : chance(50) ? "scatter" : chance(50) ? "pack" : "free:excl";
    }
    // Requests chunks that may be too large for a single vnode, but not for all vnodes of a host together.
    void ask_for_a_host(JobOptions& o) {
        o.select = chunk({1, 3}, {6, 40});
        if (chance(50)) o.select += ":mem=" + std::to_string(pick(1, 24)) + "gb";
        if (chance(10)) o.select += ":arch=vector";
        o.ncpus = o.mem = o.gpus = -1;
        const char* places[] = {"",         "free", "scatter",
                                "vscatter", "pack", whole_hosts ? "exclhost" : "free:excl"};
        o.place = places[pick(0, 5)];
    }
    JobOptions job(Instant now) {
        JobOptions o;
        o.queue = chance(75) ? "submit"
                             : submit[static_cast<std::size_t>(pick(0, static_cast<int>(submit.size()) - 1))];
        o.owner = "u" + std::to_string(pick(1, 5));
        o.group = "g" + std::to_string(pick(1, 2));
        o.ncpus = pick(1, 16);
        if (chance(60)) o.mem = pick(1, 16) * 512 * kMb;
        if (chance(15)) {
            o.select = chunk({1, 4}, {1, 4});
            o.ncpus = o.mem = -1;
            if (chance(50)) o.place = chance(50) ? "scatter" : chance(50) ? "pack" : "free:excl";
            if (!standard && chance(30)) {
                o.select += "+" + chunk({1, 2}, {1, 8});
                if (chance(50)) o.select += ":mem=" + std::to_string(pick(1, 12)) + "gb";
            }
        }
        o.walltime = chance(without_walltime) ? -1 : pick(1, 24) * 20 * kMinute;
        o.interactive = chance(10);
        o.queued = now - Seconds(pick(0, 4 * 3600));
        if (standard) ask_for_more(o);
        o.project = "p" + std::to_string(1 + (o.queued - at(0)).count() % 3);
        if (hpm_jobs && chance(20)) o.hpm = 1;
        if (differ_in_sharing && o.place.empty() && chance(30)) o.place = "shared";
        if (groups && chance(30))
            o.place += (o.place.empty() ? "group=" : ":group=") + std::string(chance(50) ? "arch" : "host");
        o.elsewhere = some_elsewhere && (o.queued - at(0)).count() % 4 == 0;
        if (priorities) o.priority = pick(-2, 2);
        if (ranges && !o.select.empty() && chance(60))
            o.select_range = fmt::format("{}-{}", pick(1, 2), pick(2, 7));
        if (spreads && !o.select.empty() && o.place.empty()) {
            if (chance(40)) o.chunk_order = chance(60) ? "round_robin" : "fill";
            if (chance(30)) o.per_host = pick(1, 2);
        }
        if (spreads && chance(40)) o.prefer = chance(50) ? "mem>=4gb+bigmem=True" : "host!=h0+ngpus>0";
        if (arrays && chance(60)) {
            o.array = 1'000'000 + pick(1, 2);
            o.subjob = ++subjobs;
        }
        if (some_rerunnable) o.rerunnable = chance(60);
        if (together && of_arrays() % 3 == 0) make_array(o, now);
        return o;
    }
    void make_array(JobOptions& o, Instant now) {
        o.array = 5'000'000 + ++arrays_made;
        o.subjob = 1;
        o.interactive = false;
        o.ncpus = std::min<std::int64_t>(o.ncpus, 4);
        o.together = 2 + static_cast<int>(of_arrays() % 4);
        const std::int64_t hours = patient ? 200 : static_cast<int>(of_arrays() % 3);
        o.start_within = hours * kHour;
        o.queued = now;
    }
};

// Compares two cycles in the aspects `parts`. If they differ, fails the test, and prints the first difference
// in words and the code that makes the site.
inline void expect_same(const Site& site, const Outcome& a, std::string_view name_a, const Outcome& b,
                        std::string_view name_b, unsigned parts) {
    const std::string difference = first_difference(a, name_a, b, name_b, parts);
    if (!difference.empty())
        ADD_FAILURE()
            << difference << "\nThe site is " << site.label
            << "; its profile and answers of its commands are only there. All else, to paste:\nWorld world;\n"
            << site.world.journal();
}

// Removes the reasons from rejections of jobs that haven't started in time: they are those of the last cycle
// that considered the job, and a cycle by events considers fewer jobs.
inline Outcome without_last_reasons(Outcome outcome) {
    for (auto& [job, text] : outcome.rejected)
        if (text.starts_with("Not started within ")) text.resize(text.find(" s"));
    return outcome;
}

// Random events that happen to both copies of a site. The copies are in the same state.
struct Events {
    std::mt19937 random;
    Instant now = at(6);
    std::vector<int> jobs;  // numbers of jobs that haven't ended
    std::vector<bool> down;
    std::set<int> touched{};  // jobs that had an event since the test last cleared this set
    int arrivals = 40;        // percentage of events that are arrivals

    int pick(int from, int to) { return std::uniform_int_distribution(from, to)(random); }
    bool chance(int percent) { return pick(1, 100) <= percent; }

    CycleTrigger next(Site& a, Site& b) {
        CycleTrigger trigger = CycleTrigger::job_new;
        const int events = chance(80) ? 1 : pick(2, 5);
        for (int i = 0; i < events; ++i) {
            const int what = pick(1, 100);
            if (jobs.empty() || what <= arrivals) {
                const JobOptions options = a.job(now);
                jobs.push_back(a.world.job(options, now));
                b.world.job(options, now);
                continue;
            }
            const auto which = static_cast<std::size_t>(pick(0, static_cast<int>(jobs.size()) - 1));
            const int job = jobs[which];
            touched.insert(job);
            const bool runs = a.world.running(job);
            if (what <= 45 && !runs && a.world.options(job).state == 'Q' &&
                a.world.options(job).select.empty()) {  // a manager runs the job by qrun
                const auto vnode = static_cast<std::size_t>(pick(0, static_cast<int>(a.vnodes.size()) - 1));
                const std::string queue = a.standard ? a.submit.front() : "b0";
                for (Site* site : {&a, &b}) site->world.run(job, queue, site->vnodes[vnode], now);
            } else if (what <= 88) {
                if (!runs && what <= 80) continue;
                jobs.erase(jobs.begin() + static_cast<std::ptrdiff_t>(which));
                for (Site* site : {&a, &b}) site->world.finish(job, now);
                trigger = CycleTrigger::job_ended;
            } else if (what <= 96 && !runs) {
                JobOptions options = a.world.options(job);
                if (chance(50)) options.state = options.state == 'H' ? 'Q' : 'H';
                if (chance(50)) options.walltime = pick(1, 24) * 20 * kMinute;
                if (chance(20)) options.owner = "u" + std::to_string(pick(1, 5));
                for (Site* site : {&a, &b}) site->world.change(job, options, now);
            } else if (what <= 98 && runs) {  // the job is rerun
                JobOptions options = a.world.options(job);
                options.origin_queue = options.queue;
                options.queue = a.world.queue_of(job);
                options.state = 'Q';
                for (Site* site : {&a, &b}) site->world.change(job, options, now);
                trigger = CycleTrigger::job_ended;
            } else if (what > 97 && a.load != 0) {
                const int load = pick(1, 10000);
                down.resize(a.vnodes.size());
                for (Site* site : {&a, &b}) {
                    site->load = load;
                    site->load_at = now;
                    for (std::size_t v = 0; v < down.size(); ++v)
                        site->world.vnode(site->vnode(static_cast<int>(v), !down[v]));
                }
            } else if (what > 98) {
                const int vnode = pick(0, static_cast<int>(a.vnodes.size()) - 1);
                down.resize(a.vnodes.size());
                down[static_cast<std::size_t>(vnode)] = !down[static_cast<std::size_t>(vnode)];
                for (Site* site : {&a, &b})
                    site->world.vnode(site->vnode(vnode, !down[static_cast<std::size_t>(vnode)]));
            }
        }
        return chance(4) ? CycleTrigger::timer : trigger;
    }
    // Call it after each cycle: adds the subjobs that have started with the first of their array.
    void add_started(const Outcome& outcome) {
        for (const int job : outcome.started)
            if (std::ranges::find(jobs, job) == jobs.end()) jobs.push_back(job);
    }
    void pass_time() {
        if (chance(50)) now += Seconds(pick(1, chance(10) ? 3 * 3600 : 90));
        if (chance(1)) now -= Seconds(pick(1, 2 * 3600));  // the clock is set back
    }
};

// Makes a fairshare tree for the five users: two are in a group, one is beside the group, and two aren't in
// the tree.
inline void share_out_by_tree(Site& site, Seconds decay_time = Seconds(kHour)) {
    Settings& s = site.world.policy();
    s.fairshare = true;
    s.fairshare_group = "tree";
    site.world.configuration.fs_groups["tree"] = {.name = "tree",
                                                  .elements = {{"physics", "root", 40},
                                                               {"u1", "physics", 30},
                                                               {"u2", "physics", 10},
                                                               {"u3", "root", 25}},
                                                  .usage_formula = "ncpus*walltime",
                                                  .decay_time = decay_time};
}

// Returns whether a chunk of an exec_vnode is divided among several vnodes.
inline bool has_pieces(const std::string& exec_vnode) {
    for (std::size_t at = exec_vnode.find('+'); at != std::string::npos; at = exec_vnode.find('+', at + 1))
        if (exec_vnode[at + 1] != '(') return true;
    return false;
}

inline std::vector<int> first_seeds(int sites) {
    std::vector<int> seeds(static_cast<std::size_t>(sites));
    std::iota(seeds.begin(), seeds.end(), 1);
    return seeds;
}

// Makes two copies of random sites. One copy has cycles by events, the other cycles over all jobs; both must
// decide the same. `set_up` may change a site, and `tune` its events. If fewer than one cycle in `one_in`
// considers fewer jobs by events, the test fails, as it shows nothing. Returns the number of started jobs
// with a divided chunk.
template <class Tune, class SetUp>
std::int64_t compare_by_events(const std::vector<int>& seeds, int steps, Algorithm algorithm, Tune tune,
                               SetUp set_up, int one_in) {
    std::int64_t cycles = 0;
    std::int64_t fewer = 0;
    std::int64_t in_pieces = 0;
    for (const int seed : seeds) {
        SCOPED_TRACE(seed);
        Site by_events(static_cast<unsigned>(seed), algorithm);
        Site by_all(static_cast<unsigned>(seed), algorithm);
        by_all.world.scheduler.set_by_events(false);
        for (Site* site : {&by_events, &by_all}) set_up(*site, seed);
        if (seed % 2 == 0) by_events.world.scheduler.set_comment_interval(Seconds::max());
        Events events{std::mt19937(static_cast<unsigned>(seed)), at(6), {}, {}};
        tune(events, seed);
        for (int step = 0; step < steps; ++step) {
            SCOPED_TRACE(step);
            const CycleTrigger trigger = events.next(by_events, by_all);
            const auto a = by_events.world.cycle(events.now, true, "default", trigger);
            const auto b = by_all.world.cycle(events.now, true, "default", trigger);
            expect_same(by_events, without_last_reasons(a), "by events", without_last_reasons(b),
                        "over all jobs",
                        part::starts | part::queues | part::vnodes | part::chunks | part::rejections |
                            part::preemptions | part::schedule);
            EXPECT_TRUE(std::ranges::includes(a.wants, b.wants));
            if (testing::Test::HasFailure()) return in_pieces;
            std::erase_if(events.jobs, [&](int job) { return a.rejected.contains(job); });
            events.add_started(a);
            for (const int job : a.started)
                if (has_pieces(a.exec_vnode.at(job))) ++in_pieces;
            ++cycles;
            if (a.considered < b.considered) ++fewer;
            events.pass_time();
        }
    }
    // with fewer than ten sites, all policies might be of the kind whose cycles always consider all jobs
    if (seeds.size() >= 10) EXPECT_GT(fewer, cycles / one_in) << "of " << cycles;
    return in_pieces;
}
template <class Tune>
std::int64_t compare_by_events(int sites, int steps, Algorithm algorithm, Tune tune) {
    return compare_by_events(
        first_seeds(sites), steps, algorithm, tune, [](Site&, int) {}, 4);
}

}  // namespace pbs::sched::test

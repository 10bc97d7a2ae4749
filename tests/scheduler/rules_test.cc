// Tests four properties that each scheduling rule (filter, turn, order) must have, on random sites, with
// rules of this project's profiles and with rules that a site adds. A rule that follows framework/filter.h
// has them without changes elsewhere.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>

#include "server_plugin/scheduler/framework/context.h"
#include "server_plugin/scheduler/framework/profile.h"
#include "server_plugin/scheduler/model/planning.h"
#include "tests/cases.h"
#include "tests/scheduler/further_rules.h"
#include "tests/scheduler/quotas.h"
#include "tests/scheduler/random_site.h"

namespace pbs::sched::test {
namespace {

// On sites where jobs of express queues preempt others: the least priority of an express queue.
constexpr int kExpressFrom = 2;

// ---- Rules of profiles, and settings with which they have effects.

std::string first_queue(const Site& site) {
    return site.standard ? site.submit.front() : "b0";
}
void set_queue(Site& site, QueueOptions options) {
    options.name = first_queue(site);
    site.world.queue(options);
}
void add_dedicated(Site& site) {
    site.world.queue({.name = "ded"});
    site.world.policy().dedicated_queues = {{"ded"}};
    site.submit.emplace_back("ded");
    site.world.configuration.dedicated = site.world.window("FREQ=DAILY", 7, 15);
}
void set_server(Site& site, ServerRecord server) {
    const Amount available[] = {{ncpus, 10, {}}};
    if (server.max_running == 0) {
        server.max_running = -1;
        server.resources_available = available;
    }
    site.world.server(server);
}

void set_queue_limits(Site& site, std::vector<LimitOptions> limits) {
    site.world.queue({.name = first_queue(site), .limits = std::move(limits)});
}
void set_server_limits(Site& site, const std::vector<LimitOptions>& limits) {
    const auto records = records_of(limits);
    ServerRecord server;
    server.limits = records;
    site.world.server(server);
}

// Sets default_duration and duration_offset, and gives some jobs no walltime.
void plan_durations(Site& site) {
    if (!site.standard) return;
    Settings& s = site.world.policy();
    if (site.chance(50)) s.default_duration = Seconds(site.pick(1, 8) * kHour / 2);
    if (site.chance(50)) s.duration_offset = Seconds(site.pick(1, 20) * kMinute);
    site.without_walltime = site.chance(50) ? 30 : 5;
}

using SetUp = std::function<void(Site&)>;
const std::map<std::string, SetUp, std::less<>>& generators() {
    static const std::map<std::string, SetUp, std::less<>> all = {
        {"allocation",
         [](Site& site) {
             Settings& s = site.world.policy();
             s.enforce_allocation = {true};
             s.sched_acct_dir = "acct";
             site.world.scheduler.set_allocated("acct", {{"g1", 40.0}, {"g2", 90.0}});
             site.world.scheduler.set_used("acct", {});
         }},
        {"by_queue",
         [](Site& site) {
             site.world.policy().by_queue = true;
             site.world.policy().round_robin = false;
         }},
        {"dedicated_end", add_dedicated},
        {"drain", [](Site& site) { site.world.policy().max_queued_time = Seconds(kHour); }},
        {"early_non_prime",
         [](Site& site) {
             Settings& s = site.world.policy();
             s.enforce_prime_time = s.nonprime_drain_sys = {true};
             s.np_drain_backtime = s.np_drain_idletime = Seconds(kHour);
             s.prime_time_wallt_limit = Seconds(kHour);
             site.world.configuration.prime = site.world.window("FREQ=DAILY", 5, 8);
         }},
        {"dedicated_time",
         [](Site& site) { site.world.configuration.dedicated = site.world.window("FREQ=DAILY", 8, 9); }},
        {"execution_type", [](Site& site) { set_queue(site, {.execution_type = ExecutionType::prime}); }},
        {"fair_share", [](Site& site) { share_out_by_tree(site); }},
        {"no_shares",
         [](Site& site) {
             share_out_by_tree(site);
             FsGroup& group = site.world.configuration.fs_groups.at("tree");
             group.enforce_no_shares = true;
             group.unknown_shares = 0;
             site.world.policy().enforce_no_shares = true;
         }},
        {"fragments",
         [](Site& site) {
             site.world.policy().avoid_fragmentation = {true};
             set_queue(site, {.max_running = 4, .nodes = 40});
         }},
        // While a job that was found in a batch queue waits there, each cycle considers all jobs. So only
        // half of the sites have such a job.
        {"restart_action",
         [](Site& site) {
             if (site.chance(50)) return;
             site.world.job(
                 {.queue = first_queue(site), .nodes = 1, .walltime = kHour, .origin_queue = "submit"});
         }},
        {"hosts",
         [](Site& site) {
             site.world.policy().exclude_resources = {"mem"};
             site.world.policy().do_not_span_psets = site.chance(40);
             site.world.policy().only_explicit_psets = site.chance(40);
             if (site.chance(30)) site.world.policy().reserved_resources = {"ngpus", "bigmem"};
             site.ranges = site.standard && site.chance(30);
             site.spreads = site.standard && site.chance(50);
             if (site.chance(30)) site.world.policy().chunk_order = ChunkOrder::round_robin;
             if (site.chance(30)) site.world.policy().range_sets = "largest";
             site.groups = true;
             site.whole_hosts = true;
             site.differ_in_sharing = site.chance(50);
             if (site.standard && site.chance(50)) {
                 site.world.policy().load_balancing = true;
                 site.max_load = 9000;
                 site.load = site.pick(1, 10000);
                 site.load_at = at(5);
             }
             for (std::size_t i = 0; i < site.vnodes.size(); ++i)
                 site.world.vnode(site.vnode(static_cast<int>(i)));
         }},
        // With past usage, each cycle could have another first user (Deal::in_circle), whose job would hold
        // up all others. So hold_queue is tried without it.
        {"hold_queue", [](Site& site) { site.world.policy().sort_by_past_usage = {}; }},
        {"hpm_counters",
         [](Site& site) {
             site.world.policy().manage_hpm_counters = {true};
             site.world.policy().hpm_ctl = "ctl";
             site.hpm_jobs = true;
         }},
        {"max_dedicated_jobs",
         [](Site& site) {
             add_dedicated(site);
             site.world.policy().max_dedicated_jobs = 1;
         }},
        {"queue_max_run",
         [](Site& site) { set_queue_limits(site, {{.entity = EntityKind::all, .most = 2}}); }},
        {"queue_max_run_user",
         [](Site& site) { set_queue_limits(site, {{.entity = EntityKind::user, .most = 1}}); }},
        {"queue_max_run_group",
         [](Site& site) { set_queue_limits(site, {{.entity = EntityKind::group, .most = 2}}); }},
        {"queue_max_run_project",
         [](Site& site) { set_queue_limits(site, {{.entity = EntityKind::project, .most = 2}}); }},
        {"server_max_run",
         [](Site& site) { set_server_limits(site, {{.entity = EntityKind::all, .most = 2}}); }},
        {"server_max_run_user",
         [](Site& site) { set_server_limits(site, {{.entity = EntityKind::user, .most = 1}}); }},
        {"server_max_run_group",
         [](Site& site) { set_server_limits(site, {{.entity = EntityKind::group, .most = 2}}); }},
        {"server_max_run_project",
         [](Site& site) { set_server_limits(site, {{.entity = EntityKind::project, .most = 2}}); }},
        {"queue_max_run_res",
         [](Site& site) {
             set_queue_limits(site, {{.entity = EntityKind::all, .resource = ncpus, .most = 16}});
         }},
        {"queue_max_run_res_user",
         [](Site& site) {
             set_queue_limits(site, {{.entity = EntityKind::user, .resource = ncpus, .most = 6}});
         }},
        {"queue_max_run_res_group",
         [](Site& site) {
             set_queue_limits(site, {{.entity = EntityKind::group, .resource = ncpus, .most = 8}});
         }},
        {"queue_max_run_res_project",
         [](Site& site) {
             set_queue_limits(site, {{.entity = EntityKind::project, .resource = ncpus, .most = 8}});
         }},
        {"server_max_run_res",
         [](Site& site) {
             set_server_limits(site, {{.entity = EntityKind::all, .resource = ncpus, .most = 16}});
         }},
        {"server_max_run_res_user",
         [](Site& site) {
             set_server_limits(site, {{.entity = EntityKind::user, .resource = ncpus, .most = 6}});
         }},
        {"server_max_run_res_group",
         [](Site& site) {
             set_server_limits(site, {{.entity = EntityKind::group, .resource = ncpus, .most = 8}});
         }},
        {"server_max_run_res_project",
         [](Site& site) {
             set_server_limits(site, {{.entity = EntityKind::project, .resource = ncpus, .most = 8}});
         }},
        {"max_running", [](Site& site) { set_queue(site, {.max_running = 2}); }},
        {"max_user_run_jobs", [](Site& site) { site.world.policy().max_user_run_jobs = 1; }},
        {"node_sort_key",
         [](Site& site) {
             using enum SortAmount;
             const std::vector<std::vector<SortKey>> keys = {
                 {{"sort_priority", false}, {"mem", true}},
                 {{"ncpus", true, unused}},
                 {{"ncpus", false, unused}, {"mem", true, assigned}},
                 {{"mem", false, assigned}, {"sort_priority", true}}};
             const auto some_keys = [&] { return keys[static_cast<std::size_t>(site.pick(0, 3))]; };
             Settings& s = site.world.policy();
             s.node_sort_key = some_keys();
             if (site.chance(50)) return;
             site.groups = true;
             using enum Arrangement;
             for (const auto place :
                  {std::optional(Arrangement::free), std::optional(pack), std::optional(scatter),
                   std::optional(vscatter), std::optional<Arrangement>()})
                 if (site.chance(60)) s.node_sort_key_of_place.push_back({place, some_keys()});
         }},
        {"load_thresholds",
         [](Site& site) {
             Settings& s = site.world.policy();
             site.load = site.pick(1, 10000);
             site.load_of_hosts = true;
             site.load_at = at(5);
             if (site.chance(80))
                 s.load_thresholds = {{"", "np_load_avg", values::Comparison::at_least, 0.3}};
             if (site.chance(30))
                 s.load_thresholds.push_back({first_queue(site), "load_avg", values::Comparison::more, 7});
             if (site.chance(30))
                 s.load_thresholds.push_back({"", "mem", values::Comparison::less, 3.0 * kMb});
             if (site.chance(80)) s.job_load_adjustments = {{"np_load_avg", 0.5}, {"load_avg", 0.25}};
             s.load_adjustment_decay_time = Seconds(site.pick(1, 40) * kMinute);
             if (site.chance(50)) return;
             s.load_formula = site.chance(50) ? "np_load_avg" : "load_avg + 1.0 / ncpus";
             s.node_sort_key = {{"load_formula", site.chance(20)}, {"sort_priority", true}};
             if (site.chance(60)) return;
             s.node_sort_key_of_place = {{Arrangement::scatter, s.node_sort_key}};
             s.node_sort_key = {{"sort_priority", false}};
         }},
        {"nonprime_drain",
         [](Site& site) {
             site.world.policy().enforce_prime_time = site.world.policy().nonprime_drain_sys = {true};
             site.world.configuration.prime = site.world.window("FREQ=DAILY", 5, 9);
         }},
        {"priority", [](Site& site) { site.priorities = true; }},
        {"preemption",
         [](Site& site) {
             Settings& s = site.world.policy();
             site.some_rerunnable = true;
             s.preempt_queue_prio = kExpressFrom;
             s.preempt_order.steps = {{100, "SR"}, {70, "R"}, {30, "SD"}};
             s.sched_preempt_enforce_resumption = site.chance(50);
         }},
        {"max_run_subjobs",
         [](Site& site) {
             site.world.policy().max_run_subjobs = site.pick(1, 4);
             site.arrays = true;
             site.world.policy().strict_ordering = site.chance(40);
         }},
        {"prime_boundary", [](Site& site) { site.world.policy().backfill_prime = true; }},
        {"prime_limit",
         [](Site& site) {
             site.world.policy().enforce_prime_time = {true};
             site.world.policy().prime_time_wallt_limit = Seconds(kHour);
         }},
        {"past_usage", [](Site& site) { site.world.policy().sort_by_past_usage = {true}; }},
        {"queue_group_limit", [](Site& site) { set_queue(site, {.max_group_run = 1}); }},
        {"quota",
         [](Site& site) {
             std::vector<QuotaOptions> several = {
                 {.rules = {{"vip", "users={u1} to ncpus=12"}, {"rest", "users={*} to ncpus=6,jobs=2"}}},
                 {.name = "q2", .rules = {{"groups", "groups={*} queues={*} to ncpus=10"}}}};
             switch (site.pick(0, 6)) {
                 case 0:
                     several[0].windows = site.world.window("FREQ=DAILY", 7, 9);
                     several[0].spill = site.chance(50);
                     break;
                 case 1:
                     several[0].rules = {{"some", "users={*} vnodes={n0,n1,n2} to ncpus=4"},
                                         {"all", "users=* to jobs=5"}};
                     several[0].spill = false;
                     break;
                 case 2:
                     several[1].rules = {{"named", "projects={*} to jobs=1"},
                                         {"rest", "groups={g1} to mem=6gb"}};
                     break;
                 case 3:
                     several[1].rules = {
                         {"formula", "vnodes={*} to ncpus=(ncpus - ncpus // 3),jobs=(ncpus)"}};
                     break;
                 case 4:  // some users are far from these limits
                     several = {{.rules = {{"u1", "users={u1} queues=!none vnodes={*} to ncpus=5,jobs=2"},
                                           {"mine", "users={*} vnodes={*} to ncpus=9,jobs=3"}}}};
                     break;
                 case 5:
                     several[1].rules = {{"shapes", "shapes=interactive,array to jobs=3"},
                                         {"each", "shapes={*} to ncpus=9"}};
                     break;
                 default:
                     several[1].rules = {{"vnode", "vnodes={*} queues=!none to jobs=2"}};
             }
             for (const QuotaOptions& options : several) site.world.policy().quotas.push_back(quota(options));
         }},
        {"queue_maximum", [](Site& site) { set_queue(site, {.max_ncpus = 4}); }},
        {"queue_nodes", [](Site& site) { set_queue(site, {.nodes = 9}); }},
        {"queue_resources", [](Site& site) { set_queue(site, {.available_ncpus = 9}); }},
        {"queue_started", [](Site& site) { set_queue(site, {.started = false}); }},
        {"queue_user_limit", [](Site& site) { set_queue(site, {.max_user_run = 1}); }},
        {"queue_window",
         [](Site& site) {
             const AtClose at_close[] = {AtClose::run, AtClose::suspend, AtClose::requeue};
             site.world.hours(first_queue(site), site.world.window("FREQ=DAILY", 7, 9),
                              at_close[site.pick(0, site.standard ? 2 : 0)]);
         }},
        {"reservations",
         [](Site& site) {
             Settings& s = site.world.policy();
             s.max_queued_time = Seconds(kHour);
             s.strict_ordering = true;
             s.backfill_depth = 2;
             set_queue(site, {.max_running = 3, .available_ncpus = 20});
             plan_durations(site);
         }},
        {"round_robin",
         [](Site& site) {
             site.world.policy().round_robin = true;
             site.world.policy().by_queue = false;
         }},
        {"server_group_limit", [](Site& site) { set_server(site, {.max_group_run = 1}); }},
        {"server_max_running", [](Site& site) { set_server(site, {.max_running = 3}); }},
        {"server_resources",
         [](Site& site) {
             set_server(site, {.max_running = 0});
             site.world.policy().server_dyn_res = {"mem !/opt/mem", "hpm !/opt/hpm"};
             site.world.scheduler.set_told("mem !/opt/mem", "20gb");
             site.world.scheduler.set_told("hpm !/opt/hpm", "3");
             site.hpm_jobs = true;
         }},
        {"server_user_limit", [](Site& site) { set_server(site, {.max_user_run = 1}); }},
        {"small_job_max",
         [](Site& site) {
             site.world.policy().small_job_max = 3;
             site.world.policy().wallt_limit_large_job = Seconds(2 * kHour);
         }},
        {"top_jobs",
         [](Site& site) {
             Settings& s = site.world.policy();
             s.strict_ordering = true;
             s.backfill_depth = 1;
             if (site.chance(50)) {
                 s.preempt_queue_prio = kExpressFrom;
                 s.sched_preempt_enforce_resumption = true;
             }
             plan_durations(site);
             site.ranges = site.standard && site.chance(50);
             site.spreads = site.standard && site.chance(50);
         }},
        {"user_acl",
         [](Site& site) {
             set_queue(site, {.acl_users = {"u1", "u2"}});
         }},
    };
    return all;
}

// ---- The rules that are tried.

// A rule to test, and the algorithm whose profile is tested with and without the rule.
struct Tried {
    std::string name;
    Algorithm algorithm;
    bool further = false;  // the rule is one of further_rules.h, not of the profile
    const Filter* filter = nullptr;
    const Deal* deal = nullptr;
    const AfterRefusalRule* after_refusal = nullptr;
    const NodeOrder* node_order = nullptr;
};

void PrintTo(const Tried& tried, std::ostream* out) {
    *out << tried.name;
}

std::vector<Tried> all_tried() {
    std::vector<Tried> all;
    for (const Algorithm algorithm : {Algorithm::origin, Algorithm::standard}) {
        Settings s;
        s.algorithm = algorithm;
        const Profile& profile = profile_of(s);
        const auto add = [&](const char* name) { all.push_back({.name = name, .algorithm = algorithm}); };
        for (const Filter* filter : profile.filters) add(filter->name);
        for (const Admission* admission : profile.admissions) add(admission->name);
        for (const Deal* deal : profile.deals) add(deal->name);
        for (const AfterRefusalRule* rule : profile.after_refusal) add(rule->name);
        if (algorithm == Algorithm::standard) add(profile.node_order->name);
        for (const Filter* filter : kFurtherRules)
            all.push_back({.name = filter->name, .algorithm = algorithm, .further = true, .filter = filter});
        // the lanes (lists of normal jobs) belong to users with algorithm origin, and to queues with standard
        for (const Deal* deal : kFurtherDeals)
            if (deal->of_users == (algorithm == Algorithm::origin))
                all.push_back({.name = deal->name, .algorithm = algorithm, .further = true, .deal = deal});
        all.push_back(
            {.name = kHoldQueue.name, .algorithm = algorithm, .further = true, .after_refusal = &kHoldQueue});
        for (const NodeOrder* order : {&kLeastMemory, &kMostFree})
            all.push_back(
                {.name = order->name, .algorithm = algorithm, .further = true, .node_order = order});
    }
    return all;
}

// A copy of an algorithm's profile that has the tried rule if `with` is true, and lacks it otherwise.
struct OwnProfile {
    std::vector<const Filter*> filters;
    std::vector<const Admission*> admissions;
    std::vector<const Deal*> deals;
    std::vector<const AfterRefusalRule*> after_refusal;
    Profile profile;

    OwnProfile(const Tried& tried, bool with)
        : profile([&] {
              Settings s;
              s.algorithm = tried.algorithm;
              return profile_of(s);
          }()) {
        filters.assign(profile.filters.begin(), profile.filters.end());
        admissions.assign(profile.admissions.begin(), profile.admissions.end());
        deals.assign(profile.deals.begin(), profile.deals.end());
        after_refusal.assign(profile.after_refusal.begin(), profile.after_refusal.end());
        if (tried.further && with) {
            if (tried.filter != nullptr) filters.push_back(tried.filter);
            if (tried.deal != nullptr) deals.insert(deals.begin(), tried.deal);
            if (tried.after_refusal != nullptr) after_refusal.push_back(tried.after_refusal);
            if (tried.node_order != nullptr) profile.node_order = tried.node_order;
        }
        if (!tried.further && !with) {
            const auto is_it = [&](const auto* rule) { return rule->name == tried.name; };
            std::erase_if(filters, is_it);
            std::erase_if(admissions, is_it);
            std::erase_if(deals, is_it);
            std::erase_if(after_refusal, is_it);
            if (profile.node_order != nullptr && is_it(profile.node_order)) profile.node_order = nullptr;
        }
        profile.filters = filters;
        profile.admissions = admissions;
        profile.deals = deals;
        profile.after_refusal = after_refusal;
    }
};

class Rules : public testing::TestWithParam<Tried> {
  protected:
    // Number of sites, chosen so that all rules together take a few seconds.
    static constexpr int kSites = 10;
    OwnProfile own{GetParam(), true};
    OwnProfile without{GetParam(), false};

    void set_up(Site& site, const OwnProfile& profile) const {
        site.label += fmt::format(" with the generator of the rule {}", GetParam().name);
        site.world.policy().profile = &profile.profile;
        site.together = site.standard && site.seed % 3 == 2 && site.seed <= 100;
        if (const auto found = generators().find(GetParam().name); found != generators().end())
            found->second(site);
        site.world.configure();
    }
};

TEST_P(Rules, HaveSettingsByWhichTheyMatter) {
    if (!GetParam().further)
        EXPECT_TRUE(generators().contains(GetParam().name)) << "rules_test.cc has no generator for it";
    bool matters = false;
    for (int seed = 1; seed <= 40 && !matters; ++seed) {
        Site a(static_cast<unsigned>(seed), GetParam().algorithm);
        set_up(a, own);
        Site b(static_cast<unsigned>(seed), GetParam().algorithm);
        set_up(b, without);
        Events events{std::mt19937(static_cast<unsigned>(seed)), at(6), {}, {}};
        for (int step = 0; step < 60 && !matters; ++step) {
            events.next(a, b);
            const auto with = a.world.cycle(events.now);
            const auto other = b.world.cycle(events.now);
            matters = with.started != other.started || with.rejected != other.rejected ||
                      with.vnodes != other.vnodes || with.preempted != other.preempted;
            std::erase_if(events.jobs, [&](int job) { return with.rejected.contains(job); });
            events.add_started(with);
            events.pass_time();
        }
    }
    EXPECT_TRUE(matters)
        << "with and without " << GetParam().name
        << ", 40 sites start the same: its generator has to make settings by which it refuses";
}

TEST_P(Rules, DecideAfterEventsWhatTheyDecideOfAllJobs) {
    auto seeds = first_seeds(pbs::test::cases(kSites));
    // Add seeds of sites on which the two kinds of cycles once decided differently.
    if (PBS_SANITIZED == 0) seeds.insert(seeds.end(), {18, 85, 411, 423, 569, 607, 609, 971, 1023, 1043});
    compare_by_events(
        seeds, pbs::test::steps(80), GetParam().algorithm, [](Events&, int) {},
        [&](Site& site, int) { set_up(site, own); }, 20);
}

TEST_P(Rules, DecideOfSignaturesWhatTheyDecideOfEachJob) {
    auto seeds = first_seeds(pbs::test::cases(kSites));
    if (PBS_SANITIZED == 0) seeds.push_back(346);  // seed of a site on which decisions once differed
    for (const int seed : seeds) {
        SCOPED_TRACE(seed);
        Site a(static_cast<unsigned>(seed), GetParam().algorithm);
        set_up(a, own);
        Site b(static_cast<unsigned>(seed), GetParam().algorithm);
        set_up(b, own);
        b.world.scheduler.set_categories(false);
        Events events{std::mt19937(static_cast<unsigned>(seed)), at(6), {}, {}, {}, 60};
        for (int step = 0; step < pbs::test::steps(60); ++step) {
            SCOPED_TRACE(step);
            events.next(a, b);
            const auto shared = a.world.cycle(events.now);
            const auto each = b.world.cycle(events.now);
            expect_same(a, shared, "by signature", each, "job by job",
                        part::starts | part::vnodes | part::rejections | part::preemptions);
            if (testing::Test::HasFailure()) return;
            std::erase_if(events.jobs, [&](int job) { return shared.rejected.contains(job); });
            events.add_started(shared);
            events.pass_time();
        }
    }
}

// One scheduler runs cycles only after events and at the instants for which it asks; the other runs a cycle
// every kTick. Both start the same jobs at the same instants.
TEST_P(Rules, WakeTheSchedulerForWhatTimeLetsStart) {
    constexpr Seconds kTick{30};
    auto seeds = first_seeds(pbs::test::cases(kSites));
    if (PBS_SANITIZED == 0) seeds.insert(seeds.end(), {134, 162});  // sites on which jobs once started late
    for (const int seed : seeds) {
        SCOPED_TRACE(seed);
        Site woken(static_cast<unsigned>(seed), GetParam().algorithm);
        set_up(woken, own);
        Site always(static_cast<unsigned>(seed), GetParam().algorithm);
        set_up(always, own);
        always.world.scheduler.set_by_events(false);
        Events events{std::mt19937(static_cast<unsigned>(seed)), at(6), {}, {}};
        const auto compare = [&](Instant now, CycleTrigger trigger, bool wakes) {
            always.world.scheduler.tick(now);
            const auto b = always.world.cycle(now, true, "default", CycleTrigger::timer);
            Outcome a;
            if (wakes) {
                woken.world.scheduler.tick(now);
                a = woken.world.cycle(now, true, "default", trigger);
            }
            expect_same(woken, without_last_reasons(a), wakes ? "at this wake-up" : "without a wake-up",
                        without_last_reasons(b), "in a cycle at this instant",
                        part::starts | part::rejections);
            std::erase_if(events.jobs, [&](int job) { return b.rejected.contains(job); });
            events.add_started(b);
            return !b.started.empty() || !b.preempted.empty();
        };
        // All jobs end at their walltimes. Otherwise the expected ends of overdue jobs, and the kept places
        // after them, would be put off all the time, and the scheduler would ask for a cycle each minute.
        std::map<int, Instant> ends;
        const auto end_jobs = [&](Instant now) {
            return std::erase_if(events.jobs, [&](int job) {
                const std::int64_t walltime = always.world.options(job).walltime;
                if (!always.world.running(job)) ends.erase(job);
                if (!always.world.running(job) || walltime < 0) return false;
                if (ends.try_emplace(job, now + Seconds(walltime)).first->second > now) return false;
                for (Site* site : {&woken, &always}) site->world.finish(job, now);
                return true;
            });
        };
        bool starts = false;  // whether the last cycle started or preempted a job, which is an event, too
        for (int step = 0; step < pbs::test::steps(40) && !testing::Test::HasFailure(); ++step) {
            SCOPED_TRACE(step);
            Instant now = events.now;
            const CycleTrigger trigger = events.next(woken, always);
            end_jobs(now);
            starts = compare(now, trigger, true);
            events.pass_time();
            for (now += kTick; now < events.now && !testing::Test::HasFailure(); now += kTick) {
                SCOPED_TRACE((now - at(0)).count());
                const bool due = woken.world.scheduler.next_deadline(now - kTick) <= now;
                const bool ended = end_jobs(now) > 0;
                starts = compare(now, ended ? CycleTrigger::job_ended : CycleTrigger::policy_switch,
                                 due || starts || ended);
            }
        }
        if (testing::Test::HasFailure()) break;
    }
}

// A site on which all jobs end as planned. On it, a test compares a job's foreseen start with the real one.
struct Future {
    Site site;
    std::map<int, Instant> ends;  // planned ends of running jobs
    explicit Future(int seed, Algorithm algorithm) : site(static_cast<unsigned>(seed), algorithm) {}

    void note(const std::vector<int>& jobs, Instant now) {
        for (const int job : jobs)
            if (site.world.running(job) && !ends.contains(job)) {
                const Planning planning =
                    site.standard ? Planning::by(site.world.policy(), true) : Planning{};
                const Seconds walltime(site.world.options(job).walltime);
                const Seconds planned =
                    planning.offset + (walltime < Seconds(0) ? planning.unasked : walltime);
                const auto hours = site.world.configuration.queue_hours.find(site.world.queue_of(job));
                ends[job] = hours == site.world.configuration.queue_hours.end() || !planning.pauses
                                ? now + planned
                                : planning.course(hours->second, now, now + planned).end;
            }
    }
    Instant next_end() const {
        Instant next = Instant::max();
        for (const auto& [job, end] : ends) next = std::min(next, end);
        return next;
    }
    void end_jobs(Instant now) {
        std::erase_if(ends, [&](const auto& end) {
            if (end.second > now) return false;
            site.world.finish(end.first, now);
            return true;
        });
    }
};

TEST_P(Rules, AreForeseenAsTheyWillBe) {
    constexpr Seconds kTick{PBS_SANITIZED != 0 ? 300 : 60};
    int foreseen = 0;
    for (int seed = 1; seed <= pbs::test::cases(kSites * 4); ++seed) {
        SCOPED_TRACE(seed);
        Future future(seed, GetParam().algorithm);
        Site& site = future.site;
        set_up(site, own);
        site.patient = true;
        Settings& s = site.world.policy();
        s.max_queued_time = s.interactive_long_wait =
            Seconds(0);  // so no job becomes urgent, however long it waits
        site.world.configure();
        Instant now = at(6);
        std::vector<int> jobs;
        for (int i = 0; i < 25; ++i) {
            jobs.push_back(site.world.job(site.job(now), now));
            const auto outcome = site.world.cycle(now);
            std::erase_if(jobs, [&](int job) { return outcome.rejected.contains(job); });
            for (const int job : outcome.started)
                if (std::ranges::find(jobs, job) == jobs.end()) jobs.push_back(job);
            future.note(jobs, now);
            now += Seconds(site.pick(10, 300));
            future.end_jobs(now);
        }
        std::erase_if(jobs, [&](int job) { return site.world.running(job) || !site.world.exists(job); });
        if (jobs.empty()) continue;
        const int job = jobs[static_cast<std::size_t>(site.pick(0, static_cast<int>(jobs.size()) - 1))];
        for (const int other : jobs)
            if (other != job) site.world.finish(other, now);
        future.ends.erase(job);  // if the job was preempted, the end of its first run is still in this map
        if (!site.world.cycle(now).started.empty() || !site.world.exists(job)) continue;
        const auto told = site.world.scheduler.explain(now, site.world.id(job));
        ASSERT_TRUE(told);
        std::optional<Instant> earliest;
        for (const QueueAnswers& queue : told->queues)
            if (queue.earliest_start && (!earliest || *queue.earliest_start < *earliest))
                earliest = queue.earliest_start;
        std::optional<Instant> started;
        // some jobs can start only at one instant, such as the opening of a window
        const auto next = [&](Instant t) {
            return std::min({t + kTick, std::max(t + Seconds(1), site.world.scheduler.next_deadline(t)),
                             future.next_end()});
        };
        for (Instant t = next(now); t < now + Seconds(30 * kHour) && !started; t = next(t)) {
            future.end_jobs(t);
            site.world.scheduler.tick(t);
            auto outcome = site.world.cycle(t);
            if (outcome.started.empty() && !outcome.preempted.empty()) outcome = site.world.cycle(t);
            if (outcome.rejected.contains(job)) break;
            if (std::ranges::count(outcome.started, job) > 0) started = t;  // others may have been suspended
        }
        // with these rules the foreseen start may be too late: early non-prime time and preemption depend on
        // later events
        const bool foreseen_late =
            GetParam().name == "early_non_prime" || s.preempt_queue_prio == kExpressFrom;
        if (told->test_only) {
            EXPECT_TRUE(!started || !s.test_only.holds(*started));
        } else if (earliest && *earliest < now + Seconds(29 * kHour)) {
            const bool late = started && *earliest <= *started - kTick;
            const bool early = started && !foreseen_late && *earliest > *started;
            EXPECT_TRUE(started && !late && !early) << fmt::format(
                "job {} was foreseen to start at {}, and {}; it waits: {}", job, text_of(*earliest),
                started ? "starts at " + text_of(*started) : "doesn't start", told->reason);
            ++foreseen;
        } else if (!foreseen_late) {
            EXPECT_FALSE(started) << fmt::format("job {} wasn't foreseen to start, and starts at {}: {}", job,
                                                 text_of(*started), told->reason);
        }
        if (testing::Test::HasFailure()) {
            ADD_FAILURE() << "The site is " << site.label << ", to paste:\nWorld world;\n"
                          << site.world.journal();
            break;
        }
    }
    if (pbs::test::cases(10) >= 10) EXPECT_GT(foreseen, 2);
}

TEST(OwnRules, CountTheJobsThatACycleStarts) {
    const OwnProfile profile({"second_job", Algorithm::standard, true, &kSecondJob}, true);
    World world;
    world.policy().profile = &profile.profile;
    world.queue({.name = "q"});
    world.vnode({.name = "n", .ncpus = 16});
    world.configure();
    for (int i = 0; i < 5; ++i) world.job({.queue = "q", .owner = "u", .ncpus = 1});
    EXPECT_EQ(world.cycle(at(1)).started.size(), 2U) << "no limit of a queue or of the server counts users";
}

// The sums over running jobs that a rule keeps are those that it would get by counting them all. The
// scheduler of the site `anew` counts all jobs in each cycle, because it gets its configuration again before
// each.
TEST(RulesWithSums, DecideAsIfTheyCountedAllJobsInEachCycle) {
    for (const int seed : first_seeds(pbs::test::cases(60))) {
        SCOPED_TRACE(seed);
        Site kept(static_cast<unsigned>(seed), Algorithm::standard);
        Site anew(static_cast<unsigned>(seed), Algorithm::standard);
        for (Site* site : {&kept, &anew}) {
            generators().at("quota")(*site);
            if (seed % 2 == 0) plan_durations(*site);
            if (seed % 3 == 0) generators().at("queue_window")(*site);
            site->world.configure();
        }
        Events events{std::mt19937(static_cast<unsigned>(seed)), at(6), {}, {}};
        for (int step = 0; step < pbs::test::steps(80); ++step) {
            SCOPED_TRACE(step);
            const CycleTrigger trigger = events.next(kept, anew);
            const auto a = kept.world.cycle(events.now, true, "default", trigger);
            anew.world.configure();
            const auto b = anew.world.cycle(events.now, true, "default", trigger);
            expect_same(kept, a, "by kept sums", b, "by all jobs",
                        part::starts | part::vnodes | part::rejections | part::preemptions);
            if (testing::Test::HasFailure()) return;
            std::erase_if(events.jobs, [&](int job) { return a.rejected.contains(job); });
            events.pass_time();
        }
    }
}

std::string name_of(const testing::TestParamInfo<Tried>& info) {
    return (info.param.algorithm == Algorithm::origin ? "origin_" : "standard_") + info.param.name;
}
INSTANTIATE_TEST_SUITE_P(All, Rules, testing::ValuesIn(all_tried()), name_of);

}  // namespace
}  // namespace pbs::sched::test

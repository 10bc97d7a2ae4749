// Scheduler::test_start() says for a start of one job what a cycle over this job alone would do.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "server_plugin/scheduler/framework/profile.h"
#include "server_plugin/scheduler/plugins/comparators.h"
#include "tests/scheduler/quotas.h"
#include "tests/scheduler/world.h"

namespace pbs::sched {

extern const Admission kSmallJobMaxAdmission;
extern const Decide kTestOnlyDecide;
extern const Filter kHostsFilter;

namespace {

constexpr std::array<const Admission*, 1> kAdmissions = {&kSmallJobMaxAdmission};
constexpr std::array<const Filter*, 1> kFilters = {&kHostsFilter};
constexpr std::array<const Decide*, 1> kDecides = {&kTestOnlyDecide};
const Chain& chain_of_site(const Policy&, JobClass, bool) {
    static const Chain chain = {up(kQueuedOrder), up(kSequenceOrder)};
    return chain;
}
// A profile of a site, with options that otherwise only Origin has.
const Profile kHostsOnly{
    .name = "hosts_only",
    .chain = chain_of_site,
    .lane_chain = chain_of_site,
    .admissions = kAdmissions,
    .filters = kFilters,
    .decides = kDecides,
    .class_names = {"running", "", "", "queued", "", ""},
};

}  // namespace

namespace test {
namespace {

struct TestOfStart : testing::Test {
    World world;
    Settings& s = world.policy();
    void SetUp() override {
        s.algorithm = Algorithm::standard;
        world.queue({.name = "work"});
        world.vnode({.name = "n1", .ncpus = 4});
        world.vnode({.name = "n2", .ncpus = 4});
        world.configure();
    }
    // The reason why the job may not start on ncpus of the vnode; without a vnode, anywhere. Empty: it may.
    std::string why_not(int job, const std::string& vnode, std::int64_t cpus = 2, Instant now = at(10)) {
        const Amount amount{ncpus, cpus, {}};
        std::vector<Place> places;
        if (!vnode.empty()) places.push_back({world.vnode_handle(vnode), {&amount, 1}});
        return why_not(job, places, now);
    }
    std::string why_not(int job, std::span<const Place> places, Instant now = at(10)) {
        const auto decisions = world.scheduler.test_start(now, JobHandle(job), places);
        EXPECT_EQ(decisions.list.size(), 1U);
        found = !decisions.list[0].places.empty() ? decisions.list[0].places[0].vnode : VnodeHandle{};
        return std::string(decisions.list[0].text);
    }
    VnodeHandle found{};
};

// A named place counts in a quota with the amounts that it has, even if the job asks for less.
TEST_F(TestOfStart, AQuotaOfVnodesCountsTheAmountsOfThePlace) {
    s.quotas = {quota({.rules = {{"mine", "users={*} vnodes={*} to ncpus=3"}}})};
    world.configure();
    const int job = world.job({.queue = "work", .ncpus = 2});
    EXPECT_EQ(why_not(job, "n1", 3), "");
    EXPECT_EQ(why_not(job, "n1", 4), "Can Never Run: Quota q1 (mine): ncpus (R: 4 U: 0 L: 3)");
}

// A test takes long if a place is searched, if vnodes have changed, or if a quota has to count many jobs.
TEST_F(TestOfStart, TakesLongAfterManyChanges) {
    constexpr int kMany = 1001;
    world.vnode({.name = "n3", .ncpus = 2 * kMany});
    s.quotas = {quota({.rules = {{"all", "users={*} to jobs=5000"}}})};
    world.configure();
    const int job = world.job({.queue = "work", .ncpus = 1});
    const auto takes_long = [&](bool searches) {
        return world.scheduler.test_takes_long(at(10), JobHandle(job), searches);
    };
    EXPECT_FALSE(takes_long(true)) << "the site is small";
    world.scheduler.set_long_cycle(1);
    EXPECT_TRUE(takes_long(true));
    EXPECT_TRUE(takes_long(false)) << "the vnodes aren't prepared";
    EXPECT_EQ(why_not(job, "n3", 1), "");
    EXPECT_FALSE(takes_long(false));
    const auto start_many = [&] {
        for (int i = 0; i < kMany; ++i)
            world.run(world.job({.queue = "work", .ncpus = 1}), "work", "n3", at(9));
    };
    world.run(world.job({.queue = "work", .ncpus = 1}), "work", "n3", at(9));
    EXPECT_FALSE(takes_long(false)) << "a job has started";
    start_many();
    EXPECT_TRUE(takes_long(false));
    EXPECT_EQ(why_not(job, "n3", 1), "");
    EXPECT_FALSE(takes_long(false));
    world.vnode({.name = "n3", .ncpus = 2 * kMany, .free = false});
    EXPECT_FALSE(takes_long(false)) << "the state of a vnode";
    world.vnode({.name = "n3", .ncpus = 2 * kMany + 1});
    EXPECT_TRUE(takes_long(false)) << "its amounts";
    EXPECT_EQ(why_not(job, "n3", 1), "");
    world.configure();
    EXPECT_TRUE(takes_long(false)) << "the configuration";
    EXPECT_FALSE(world.scheduler.test_takes_long(at(10), JobHandle(99999), true)) << "there is no such job";
}

TEST_F(TestOfStart, OtherJobsThatWaitDontMatter) {
    s.strict_ordering = true;
    world.configure();
    world.run(world.job({.queue = "work", .ncpus = 1, .walltime = 2 * kHour}), "work", "n2", at(9));
    world.job({.queue = "work", .select = "2:ncpus=4"});
    const int job = world.job({.queue = "work", .ncpus = 2, .walltime = 2 * kHour});
    EXPECT_EQ(why_not(job, "n1"), "");
    EXPECT_EQ(why_not(job, ""), "");
    EXPECT_EQ(found, world.vnode_handle("n1"));
    EXPECT_THAT(world.cycle(at(10), false).started, testing::IsEmpty());
}

TEST_F(TestOfStart, LeavesTheStateAsItWas) {
    for (int i = 0; i < 20; ++i) world.job({.queue = "work", .ncpus = 1 + i % 3});
    const auto state_of = [](World& w) {
        std::string text;
        for (const auto& [job, comment] : w.cycle(at(11), false).comment)
            text += fmt::format("{}: {}\n", job, comment);
        for (const int job : w.cycle(at(11), false).started) text += fmt::format("{} ", job);
        return text;
    };
    (void)world.cycle(at(10));
    const std::string before = state_of(world);
    for (int job = 1; job <= 20; ++job)
        for (const char* vnode : {"", "n1", "n2"})
            if (world.exists(job) && !world.running(job)) (void)why_not(job, vnode);
    EXPECT_EQ(state_of(world), before);
}

TEST_F(TestOfStart, AReservationKeepsItsPlaces) {
    const int reservation = world.reserve({.start = at(11), .end = at(12), .select = "1:ncpus=4:host=n1"});
    ASSERT_TRUE(world.cycle(at(10)).confirmed.contains(reservation));
    const int job = world.job({.queue = "work", .ncpus = 2, .walltime = 2 * kHour});
    EXPECT_EQ(why_not(job, "n1"), "Not Running: Vnode n1 is kept for a reservation");
    EXPECT_EQ(why_not(job, "n2"), "");
    const int early = world.job({.queue = "work", .ncpus = 2, .walltime = kHour});
    EXPECT_EQ(why_not(early, "n1"), "") << "it ends as the reservation begins";
}

TEST_F(TestOfStart, QueuesThatThePolicyNamesAsDedicatedRunInDedicatedTimeAlone) {
    world.queue({.name = "ded"});
    s.dedicated_queues = {{"ded"}};
    world.configuration.dedicated = world.window("FREQ=DAILY", 2, 4);
    world.configure();
    const int dedicated = world.job({.queue = "ded", .ncpus = 2, .walltime = kHour});
    const int other = world.job({.queue = "work", .ncpus = 2, .walltime = kHour});
    for (const char* vnode : {"", "n1"}) {
        EXPECT_EQ(why_not(dedicated, vnode, 2, at(2)), "");
        EXPECT_NE(why_not(other, vnode, 2, at(2)), "");
    }
    for (const char* vnode : {"", "n1"}) {
        EXPECT_NE(why_not(dedicated, vnode, 2, at(10)), "");
        EXPECT_EQ(why_not(other, vnode, 2, at(10)), "");
    }
}

TEST_F(TestOfStart, EachVnodeHasTheValuesOfOneOfTheChunks) {
    world.vnode({.name = "x1", .arch = "x86"});
    world.vnode({.name = "a1", .arch = "arm"});
    const int job = world.job({.queue = "work", .select = "1:ncpus=1:arch=x86+2:ncpus=1:arch=arm"});
    const Amount one{ncpus, 1, {}};
    const auto at_vnodes = [&](const std::vector<std::string>& names) {
        std::vector<Place> places;
        for (const std::string& name : names) places.push_back({world.vnode_handle(name), {&one, 1}});
        return why_not(job, places);
    };
    EXPECT_EQ(at_vnodes({"x1", "a1", "a1"}), "");
    EXPECT_EQ(at_vnodes({"a1", "x1", "a1"}), "") << "in another order";
    EXPECT_EQ(at_vnodes({"x1", "a1", "n1"}), "Not Running: Vnode n1 lacks values that the job asks for");
    EXPECT_EQ(at_vnodes({"n1", "n1", "n1"}), "Not Running: Vnode n1 lacks values that the job asks for");
}

TEST_F(TestOfStart, NoVnodeHasAnyOfAResourceThatOnlyVnodesCanHave) {
    constexpr std::uint32_t kFpgas = prefer + 1;
    world.scheduler.resource_defined({kFpgas, ResourceKind::integer, "fpgas", true, true});
    const int asks = world.job({.queue = "work", .select = "1:ncpus=2:fpgas=1"});
    EXPECT_EQ(why_not(asks, "n1"), why_not(asks, "")) << "the caller left them out";
    EXPECT_THAT(why_not(asks, "n1"), testing::HasSubstr("Insufficient amount of resource: fpgas"));
    const int other = world.job({.queue = "work", .ncpus = 2});
    const std::array<Amount, 2> amounts{{{ncpus, 2, {}}, {kFpgas, 1, {}}}};
    const Place place{world.vnode_handle("n1"), amounts};
    EXPECT_EQ(why_not(other, {&place, 1}),
              "Not Running: Insufficient amount of resource: fpgas (R: 1 A: 0 T: 0 on vnode n1)");
}

TEST_F(TestOfStart, ExcludedResourcesDontCount) {
    const int job = world.job({.queue = "work", .ncpus = 2, .mem = 9 * kGb});
    const std::array<Amount, 2> amounts{{{ncpus, 2, {}}, {mem, 9 * kGb, {}}}};
    const Place place{world.vnode_handle("n1"), amounts};
    EXPECT_EQ(why_not(job, {&place, 1}),
              "Not Running: Insufficient amount of resource: mem (R: 9gb A: 8gb T: 8gb on vnode n1)");
    s.exclude_resources = {"mem"};
    world.configure();
    EXPECT_EQ(why_not(job, {&place, 1}), "");
    EXPECT_EQ(why_not(job, ""), "");
}

TEST_F(TestOfStart, AmountsThatAreTooLargeToAddUp) {
    const int job = world.job({.queue = "work", .select = "2:ncpus=2"});
    const Amount most{ncpus, INT64_MAX, {}};
    const std::vector<Place> places(2, Place{world.vnode_handle("n1"), {&most, 1}});
    EXPECT_EQ(why_not(job, places), "Not Running: The amounts of the place are too large");
    const Amount half{ncpus, std::int64_t{1} << 59, {}};
    const std::vector<Place> halves(2, Place{world.vnode_handle("n1"), {&half, 1}});
    EXPECT_EQ(why_not(job, halves),
              "Not Running: Insufficient amount of resource: ncpus (R: 1152921504606846976 A: 4 T: 4 on "
              "vnode n1)");
}

// With a CPU, the load of n3 grows by 0.25.
TEST_F(TestOfStart, LoadThresholdsCountTheEarlierChunksOfTheHost) {
    world.vnode({.name = "n3", .ncpus = 4, .load = 0, .load_at = at(10)});
    s.job_load_adjustments = {{"np_load_avg", 1}};
    s.load_thresholds = {{"", "np_load_avg", values::Comparison::at_least, 0.6}};
    world.configure();
    const int job = world.job({.queue = "work", .select = "4:ncpus=1"});
    const Amount one{ncpus, 1, {}};
    std::vector<Place> places(4, Place{world.vnode_handle("n3"), {&one, 1}});
    EXPECT_EQ(why_not(job, std::span(places).first(3)), "");
    EXPECT_EQ(why_not(job, places),
              "Not Running: Load of n3: np_load_avg 0 allows fewer chunks before it is >= 0.6");
    for (Place& place : std::span(places).subspan(1)) place.joined = true;
    EXPECT_EQ(why_not(job, places), "") << "pieces of one chunk count together";
}

TEST_F(TestOfStart, NamesTheResourceForWhichAVnodeIsReserved) {
    world.vnode({.name = "g1", .ncpus = 4, .gpus = 2});
    s.reserved_resources = {"ngpus"};
    world.configure();
    const Amount one{ncpus, 1, {}};
    const Place place{world.vnode_handle("g1"), {&one, 1}};
    EXPECT_EQ(why_not(world.job({.queue = "work", .ncpus = 1}), {&place, 1}),
              "Not Running: Vnode g1 is reserved for jobs that request ngpus");
}

TEST_F(TestOfStart, VnodesThatAreGoneOrUnknown) {
    const int job = world.job({.queue = "work", .ncpus = 2});
    const Amount amount{ncpus, 2, {}};
    const Place place{VnodeHandle{999}, {&amount, 1}};
    const auto decisions = world.scheduler.test_start(at(10), JobHandle(job), {&place, 1});
    ASSERT_EQ(decisions.list.size(), 1U);
    EXPECT_EQ(decisions.list[0].text, "Not Running: A vnode of the place doesn't exist any more");
    EXPECT_TRUE(world.scheduler.test_start(at(10), JobHandle(999), {}).list.empty());
}

TEST_F(TestOfStart, ALargerMachineThatThePolicyAssumesDoesntCount) {
    s.profile = &kHostsOnly;
    s.test_only = Since{true};
    s.fake_machine_mult = 2;
    world.configure();
    const int job = world.job({.queue = "work", .ncpus = 8});
    EXPECT_THAT(world.cycle(at(10), false).log, testing::Contains(testing::HasSubstr("would start job")));
    EXPECT_EQ(why_not(job, "n1", 8),
              "Not Running: Insufficient amount of resource: ncpus (R: 8 A: 4 T: 4 on vnode n1)");
    EXPECT_NE(why_not(job, ""), "");
    Explanation explanation;
    (void)world.scheduler.test_start(at(10), JobHandle(job), {}, &explanation);
    EXPECT_EQ(explanation.outcome, JobOutcome::waits);
}

TEST_F(TestOfStart, AnAdmissionRejectsTheJob) {
    s.profile = &kHostsOnly;
    s.small_job_max = 1;
    s.wallt_limit_small_job = s.wallt_limit_large_job = Seconds(kHour);
    world.configure();
    const auto outcome_of = [&](int job) {
        Explanation explanation;
        (void)world.scheduler.test_start(at(10), JobHandle(job), {}, &explanation);
        return explanation.outcome;
    };
    const int longer = world.job({.queue = "work", .ncpus = 1, .walltime = 2 * kHour});
    EXPECT_THAT(why_not(longer, "n1"), testing::StartsWith("Job rejected: "));
    EXPECT_EQ(outcome_of(longer), JobOutcome::rejected);
    EXPECT_EQ(outcome_of(world.job({.queue = "work", .ncpus = 1, .walltime = kHour})), JobOutcome::starts);
    EXPECT_EQ(outcome_of(world.job({.queue = "work", .ncpus = 9, .walltime = kHour})), JobOutcome::waits);
}

TEST_F(TestOfStart, HasTheAnswersOfAllFilters) {
    world.queue({.name = "small", .max_user_run = 1});
    const int job = world.job({.queue = "small", .ncpus = 8});
    const Amount amount{ncpus, 8, {}};
    const Place place{world.vnode_handle("n1"), {&amount, 1}};
    world.run(world.job({.queue = "small", .ncpus = 1}), "small", "n2", at(9));
    Explanation explanation;
    (void)world.scheduler.test_start(at(10), JobHandle(job), {&place, 1}, &explanation);
    EXPECT_EQ(explanation.outcome, JobOutcome::waits);
    EXPECT_EQ(explanation.queue, "small");
    EXPECT_EQ(explanation.place, 0U) << "the order isn't asked about";
    ASSERT_EQ(explanation.queues.size(), 1U);
    std::map<std::string_view, std::string> objections;
    std::string_view decides;
    for (const FilterAnswer& answer : explanation.queues[0].filters) {
        if (!answer.why.empty()) objections[answer.filter] = answer.why;
        if (answer.decides) decides = answer.filter;
    }
    EXPECT_EQ(objections.size(), 2U);
    EXPECT_TRUE(objections.contains("hosts"));
    EXPECT_EQ(decides, "hosts") << "the first in the order of the filters";
}

}  // namespace
}  // namespace test
}  // namespace pbs::sched

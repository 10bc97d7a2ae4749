// Tests weighted_priority: the numbers in examples of Grid Engine's urgency policy, deadlines, and the order
// of starts.

#include "server_plugin/scheduler/framework/weighted_priority.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>

#include "server_plugin/scheduler/model/deadline.h"
#include "tests/cases.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

struct Priorities : testing::Test {
    World world;
    void SetUp() override {
        Settings& s = world.policy();
        s.by_queue = s.help_starving_jobs = false;
        s.weighted_priority = true;
        s.weight_job_priority = 1;
        s.weight_urgency = 0.1;
        s.weight_waiting_time = 0.278;
        s.weight_deadline = 3600000;
        s.urgency_of_resources = {{"ncpus", 1000}};
        world.configuration.scheds["default"] = {.all_time = "p1"};
        world.queue({.name = "q"});
        world.vnode({.name = "n1", .ncpus = 0});
        world.configure();
    }
    int job(std::int64_t cpus, Instant submitted, int priority = 0, const std::string& deadline = {},
            const std::string& owner = "ann") {
        return world.job({.queue = "q",
                          .owner = owner,
                          .ncpus = cpus,
                          .priority = priority,
                          .queued = submitted,
                          .deadline = deadline});
    }
    std::string shown(int number, Instant now) {
        const auto found = world.scheduler.inspect().explain(now, std::to_string(number) + ".server");
        if (found)
            for (const OrderKey& key : found->keys)
                if (key.name == "weighted_priority") return key.value;
        return "none";
    }
};

constexpr Instant kBegin = at(0);
constexpr Instant kNow = kBegin + Seconds(10000);

// The urgencies of the three jobs are 6780, 17000.8 and 3278.
TEST_F(Priorities, AreThoseOfGridEngine) {
    const int a = job(4, kBegin);
    const int b = job(16, kBegin + Seconds(6400));
    const int c = job(1, kBegin + Seconds(9000), 100, "0316.40");  // 11800 s after kBegin
    EXPECT_EQ(
        shown(a, kNow),
        "0.52552 = 1 * 0.5 (Priority 0) + 0.1 * 0.255196 (urgency 6780 between 3278 and 17000.8: resources "
        "4000, waiting 2780, deadline 0)");
    EXPECT_THAT(shown(b, kNow), HasSubstr("0.6 = 1 * 0.5 (Priority 0) + 0.1 * 1 (urgency 17000.8 "));
    EXPECT_THAT(shown(c, kNow),
                HasSubstr("0.548828 = 1 * 0.548828 (Priority 100) + 0.1 * 0 (urgency 3278 between 3278 and "
                          "17000.8: resources 1000, waiting 278, deadline 2000)"));
    world.vnode({.name = "n1", .ncpus = 64});
    EXPECT_THAT(world.cycle(kNow).started, ElementsAre(b, c, a));
}

// With 10000, 3750 and 1875 tickets, the priorities of the same jobs are 0.5355196, 0.60375 and 0.550703.
TEST_F(Priorities, WithTicketsAreThoseOfGridEngine) {
    Settings& s = world.policy();
    s.weight_tickets = 0.01;
    s.tickets_functional = 10000;
    s.functional_weights = {{"user", 1}};
    s.functional_shares = {{OwnerKind::user, "ann", 100}, {OwnerKind::user, "bob", 60}};
    world.configure();
    const int a = job(4, kBegin);
    const int b = job(16, kBegin + Seconds(6400), 0, {}, "bob");
    const int c = job(1, kBegin + Seconds(9000), 100, "0316.40", "bob");
    const auto priority = [&](int number) {
        const auto found = world.scheduler.inspect().explain(kNow, std::to_string(number) + ".server");
        double sum = 0;
        for (const PriorityTerm& term : found->priority_terms) sum += term.weight * term.normalised;
        return sum;
    };
    for (const auto& [number, exact, text, tickets] :
         {std::tuple(a, 0.5355196, "0.53552 = ", "+ 0.01 * 1 (tickets 10000 "),
          {b, 0.60375, "0.60375 = ", "+ 0.01 * 0.375 (tickets 3750 "},
          {c, 0.550703, "0.550703 = ", "+ 0.01 * 0.1875 (tickets 1875 "}}) {
        EXPECT_NEAR(priority(number), exact, 1e-6);
        EXPECT_THAT(shown(number, kNow), testing::StartsWith(text));
        EXPECT_THAT(shown(number, kNow), HasSubstr(tickets));
    }
    world.vnode({.name = "n1", .ncpus = 64});
    EXPECT_THAT(world.cycle(kNow).started, ElementsAre(b, c, a));
}

// For a waiting job with a range of chunks, the policy's urgency_size chooses the number of chunks that
// counts. For a running job, the number of its chunks counts.
TEST_F(Priorities, ARangeCountsWithTheSizeThatUrgencySizeNames) {
    world.policy().weight_waiting_time = 0;
    world.configure();
    world.vnode({.name = "n1", .ncpus = 6});
    const int ranged =
        world.job({.queue = "q", .select = "2:ncpus=2", .queued = kBegin, .select_range = "2-5"});
    const auto urgency = [&] {
        const auto found = world.scheduler.inspect().explain(kNow, std::to_string(ranged) + ".server");
        return found->priority_terms.empty() ? -1 : found->priority_terms[1].value;
    };
    for (const auto& [size, value] :
         std::vector<std::pair<const char*, double>>{{"max", 10000}, {"min", 4000}, {"avg", 7000}}) {
        world.policy().urgency_size = size;
        world.configure();
        EXPECT_DOUBLE_EQ(urgency(), value) << size;
    }
    world.policy().urgency_size = "max";
    world.policy().max_range_chunks = 4;
    world.configure();
    EXPECT_DOUBLE_EQ(urgency(), 8000) << "no job gets more than four chunks";
    EXPECT_THAT(world.cycle(kNow).started, ElementsAre(ranged));
    const int other = job(1, kBegin);
    const auto found = world.scheduler.inspect().explain(kNow, std::to_string(other) + ".server");
    EXPECT_DOUBLE_EQ(found->priority_terms[1].greatest, 6000) << "it runs with three chunks";
}

// A text counts once, as in Grid Engine, and a boolean for each chunk that asks for True. Other numbers that
// aren't consumable count for each chunk, too.
TEST_F(Priorities, ResourcesOfChunksThatAreNotConsumableCount) {
    world.policy().weight_waiting_time = 0;
    world.policy().urgency_of_resources = {{"ncpus", 1}, {"arch", 40}, {"bigmem", 100}, {"hpm", 7}};
    world.configure();
    const auto urgency = [&](const std::string& select, const std::string& range = {}) {
        const int number =
            world.job({.queue = "q", .select = select, .queued = kBegin, .select_range = range});
        const auto found = world.scheduler.inspect().explain(kNow, std::to_string(number) + ".server");
        return found->priority_terms.empty() ? -1 : found->priority_terms[1].value;
    };
    EXPECT_DOUBLE_EQ(urgency("3:ncpus=2:arch=x86"), 46);
    EXPECT_DOUBLE_EQ(urgency("3:ncpus=1:bigmem=true"), 303);
    EXPECT_DOUBLE_EQ(urgency("3:ncpus=1:bigmem=false"), 3);
    EXPECT_DOUBLE_EQ(urgency("2:ncpus=1:hpm=5"), 72);
    EXPECT_DOUBLE_EQ(urgency("1:ncpus=1:arch=x86+2:ncpus=1:arch=arm:bigmem=true"), 243);
    EXPECT_DOUBLE_EQ(urgency("2:ncpus=1:bigmem=true", "2-5"), 505);
}

// The explanation of a job shows the terms of its priority, and those of the job just before it in the order.
TEST_F(Priorities, AreExplainedBesideTheJobBefore) {
    const int a = job(4, kBegin);
    const int b = job(16, kBegin + Seconds(6400));
    const int c = job(1, kBegin + Seconds(9000), 100, "0316.40");
    const auto explained = [&](int number) {
        return world.scheduler.inspect().explain(kNow, std::to_string(number) + ".server").value();
    };
    const auto number = [](double value) { return testing::DoubleNear(value, 0.000001); };
    const auto term = [&](std::string_view name, double value, double least, double greatest, double norm,
                          double weight) {
        return testing::AllOf(testing::Field(&PriorityTerm::name, name),
                              testing::Field(&PriorityTerm::value, number(value)),
                              testing::Field(&PriorityTerm::least, number(least)),
                              testing::Field(&PriorityTerm::greatest, number(greatest)),
                              testing::Field(&PriorityTerm::normalised, number(norm)),
                              testing::Field(&PriorityTerm::weight, number(weight)));
    };
    EXPECT_EQ(explained(b).job_before, "");
    EXPECT_THAT(explained(b).terms_before, testing::IsEmpty());
    const Explanation last = explained(a);
    EXPECT_THAT(last.priority_terms, ElementsAre(term("Priority", 0, -1024, 1024, 0.5, 1),
                                                 term("urgency", 6780, 3278, 17000.8, 0.255196, 0.1)));
    EXPECT_EQ(last.job_before, std::to_string(c) + ".server");
    EXPECT_THAT(last.terms_before, ElementsAre(term("Priority", 100, -1024, 1024, 0.548828, 1),
                                               term("urgency", 3278, 3278, 17000.8, 0, 0.1)));

    Settings& s = world.policy();
    s.weight_tickets = 0.01;
    s.tickets_functional = 10000;
    s.functional_shares = {{OwnerKind::user, "ann", 100}};
    world.configure();
    EXPECT_THAT(explained(b).priority_terms, testing::SizeIs(3));
    s.weighted_priority = false;
    world.configure();
    EXPECT_THAT(explained(a).priority_terms, testing::IsEmpty());
    EXPECT_EQ(explained(a).job_before, "");
}

// A walltime counts once, in seconds, and none counts as 0.
TEST_F(Priorities, CountAWalltimeInSeconds) {
    world.policy().urgency_of_resources = {{"ncpus", 1000}, {"walltime", 2}};
    world.policy().weight_waiting_time = 0;
    world.configure();
    const int none = world.job({.queue = "q", .ncpus = 4, .walltime = -1, .queued = kBegin});
    const int hour = world.job({.queue = "q", .ncpus = 4, .walltime = 3600, .queued = kBegin});
    EXPECT_THAT(shown(none, kNow), HasSubstr("(urgency 4000 between 4000 and 11200: resources 4000,"));
    EXPECT_THAT(shown(hour, kNow), HasSubstr("(urgency 11200 between 4000 and 11200: resources 11200,"));
}

TEST_F(Priorities, AJobWhoseDeadlineHasPassedHasTheGreatestPriority) {
    const int a = job(4, kBegin);
    const int b = job(16, kBegin + Seconds(6400));
    const int c = job(1, kBegin + Seconds(9000), 0, "0316.40");
    const int d = job(1, kBegin + Seconds(9000), 0, "0245.40");  // 9940 s after kBegin
    EXPECT_THAT(shown(d, kNow), HasSubstr("0.1 * 1 (urgency 3.60128e+06"));
    EXPECT_THAT(shown(a, kNow), HasSubstr("0.1 * 0.000973"));
    EXPECT_THAT(shown(b, kNow), HasSubstr("0.1 * 0.003814"));
    EXPECT_THAT(shown(c, kNow), HasSubstr("0.1 * 0 "));
    world.policy().deadline_users = {"bob", "@nobody"};
    world.configure();
    EXPECT_THAT(shown(d, kNow), HasSubstr("deadline 0)"));
    world.policy().deadline_users = {"@staff"};
    world.configure();
    EXPECT_THAT(shown(d, kNow), HasSubstr("deadline 3.6e+06)"));
}

// A job whose deadline isn't a valid time counts as having none. pbs_explain shows the mistake.
TEST_F(Priorities, TellOfADeadlineThatIsNoTime) {
    const int wrong = job(4, kBegin, 0, "tomorrow");
    EXPECT_THAT(shown(wrong, kNow),
                HasSubstr("deadline 0: 'tomorrow' is no time, expected [[[[CC]YY]MM]DD]hhmm[.SS])"));
}

TEST_F(Priorities, OfEqualJobsAreInTheMiddle) {
    const int alone = job(4, kBegin);
    EXPECT_THAT(shown(alone, kNow), HasSubstr("0.1 * 0.5 "));
    const int other = job(4, kBegin);
    EXPECT_THAT(shown(other, kNow), HasSubstr("0.1 * 0.5 "));
}

// A deadline becomes more urgent as it comes nearer, so the order of jobs changes with the time.
TEST_F(Priorities, FollowTheTime) {
    world.policy().weight_waiting_time = 0;
    world.policy().urgency_of_resources = {};
    world.configure();
    world.vnode({.name = "n1", .ncpus = 1});
    const int first = job(1, kBegin);
    EXPECT_THAT(world.cycle(at(1)).started, ElementsAre(first));
    const int late = job(1, at(1), 0, "2000");
    const int soon = job(1, at(2), 0, "0400");
    world.finish(first, at(3));
    EXPECT_THAT(world.cycle(at(3)).started, ElementsAre(soon));
    const int never = job(1, at(3));
    world.finish(soon, at(4));
    EXPECT_THAT(world.cycle(at(4)).started, ElementsAre(late));
    world.finish(late, at(5));
    EXPECT_THAT(world.cycle(at(5)).started, ElementsAre(never));
}

// On random sites, jobs start in the order that a direct computation of the formula gives.
TEST_F(Priorities, OrderJobsAsAPlainSortDoes) {
    for (int seed = 1; seed <= pbs::test::cases(100); ++seed) {
        std::mt19937 random(static_cast<unsigned>(seed));
        const auto pick = [&](int least, int most) {
            return std::uniform_int_distribution<int>(least, most)(random);
        };
        World site;
        Settings& s = site.policy();
        s = world.policy();
        s.weight_job_priority = pick(0, 3);
        s.weight_urgency = pick(0, 3) * 0.5;
        s.weight_waiting_time = pick(0, 2) * 0.3;
        s.urgency_of_resources = {{"ncpus", pick(0, 2) * 500.0}, {"mem", 0.001}};
        site.configuration.scheds["default"] = {.all_time = "p1"};
        site.queue({.name = "q"});
        site.vnode({.name = "n1", .ncpus = 4096, .mem = 4096 * kGb});
        site.configure();
        struct Plain {
            int number;
            double urgency;
            int priority;
            Instant submitted;
        };
        std::vector<Plain> jobs;
        const Instant now = at(9);
        const bool of_one_priority = seed % 2 == 0;
        const bool with_deadlines = seed % 4 != 0;
        for (int i = pick(1, 20); i > 0; --i) {
            const int cpus = pick(1, 8);
            const int gigabytes = pick(1, 4);
            const Instant submitted = at(pick(0, 8), pick(0, 3));
            const int hour =
                with_deadlines ? pick(10, 40) : 40;  // hour of the deadline; from 24 on, the job has none
            const int priority = of_one_priority ? 5 : pick(-1024, 1023);
            const std::string deadline = hour < 24 ? std::to_string(hour) + "00" : "";
            const int number = site.job({.queue = "q",
                                         .ncpus = cpus,
                                         .mem = gigabytes * kGb,
                                         .priority = priority,
                                         .queued = submitted,
                                         .deadline = deadline});
            const double until = static_cast<double>((at(hour) - now).count());
            jobs.push_back({number,
                            s.urgency_of_resources[0].weight * cpus + 0.001 * gigabytes * 1048576 +
                                s.weight_waiting_time * static_cast<double>((now - submitted).count()) +
                                (hour < 24 ? 3600000 / until : 0),
                            priority, submitted});
        }
        const auto [least, greatest] = std::ranges::minmax(jobs, {}, &Plain::urgency);
        const double range = greatest.urgency - least.urgency;
        const auto value = [&, low = least.urgency](const Plain& job) {
            return s.weight_job_priority * (job.priority + 1024) / 2048 +
                   s.weight_urgency * (range < 0.00001 ? 0.5 : (job.urgency - low) / range);
        };
        std::ranges::sort(jobs, [&](const Plain& a, const Plain& b) {
            if (value(a) != value(b)) return value(a) > value(b);
            return std::tie(a.submitted, a.number) < std::tie(b.submitted, b.number);
        });
        std::vector<int> expected;
        for (const Plain& job : jobs) expected.push_back(job.number);
        ASSERT_EQ(site.cycle(now).started, expected) << "seed " << seed;
    }
}

TEST(Deadlines, AreTheFirstOnesNotBeforeTheSubmission) {
    const rrule::Zone utc = rrule::Zone::utc();
    const Instant submitted = at(10, 30);  // Monday, 2026-11-23, 10:30
    const auto parsed = [&](std::string_view text) { return parse_deadline(text, submitted, utc); };
    EXPECT_EQ(parsed("1030"), at(10, 30));
    EXPECT_EQ(parsed("1029"), at(24 + 10, 29));
    EXPECT_EQ(parsed("231200.15"), at(12, 0, 15));
    EXPECT_EQ(parsed("220000"), at(29 * 24));     // December 22
    EXPECT_EQ(parsed("310000"), at(38 * 24));     // December 31, as November has only 30 days
    EXPECT_EQ(parsed("11230000"), at(365 * 24));  // 2027, as 23 November 2026 has begun
    EXPECT_EQ(parsed("2611230000"), at(0));       // a given year is kept, even if it has passed
    EXPECT_EQ(parsed("202611230000"), at(0));
    EXPECT_EQ(parsed("02290000"), kMonday + std::chrono::days(463));  // 29 February 2028, the next leap day
    for (const char* wrong : {"", "1", "12345", "2400", "1260", "1200.60", "1200.1", "12:00", "13010000",
                              "02300000", "320000", "20260230 0000", "-100", "1200."})
        EXPECT_EQ(parsed(wrong), std::nullopt) << wrong;
}

// In New York, clocks go forward at 2:00 on 2027-03-14.
TEST(Deadlines, AreReadInTheZone) {
    const auto zone = rrule::Zone::find("America/New_York");
    ASSERT_TRUE(zone);
    const Instant before{std::chrono::sys_days{std::chrono::year{2027} / 3 / 13} + std::chrono::hours(12)};
    EXPECT_EQ(
        parse_deadline("03140330", before, *zone),
        Instant{std::chrono::sys_days{std::chrono::year{2027} / 3 / 14} + std::chrono::minutes(7 * 60 + 30)});
}

}  // namespace
}  // namespace pbs::sched::test

// The order of waiting jobs that is kept from cycle to cycle, against sorted vectors and the permutation.

#include "server_plugin/scheduler/waiting_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "server_plugin/scheduler/order/past_usage.h"
#include "tests/cases.h"

namespace pbs::sched::test {
namespace {

using Entry = WaitingJobs::Entry;
using Position = WaitingJobs::Position;

struct Random {
    std::mt19937 random;
    int pick(int from, int to) { return std::uniform_int_distribution(from, to)(random); }
    Entry entry(JobSlot job) {
        Entry e;
        e.job = job;
        e.key = {static_cast<std::uint64_t>(pick(0, 50)), static_cast<std::uint64_t>(pick(0, 50)), job};
        e.size = {pick(1, 30), pick(0, 30), pick(0, 30), pick(0, 30)};
        e.charge = pick(1, 5);
        e.waits_from = pick(0, 1000);
        e.request = static_cast<std::uint32_t>(std::max(0, pick(-3, 3)));
        e.mixed = e.request == 3;
        return e;
    }
};

std::vector<JobSlot> all_of(const WaitingJobs& waiting, LaneId lane) {
    std::vector<JobSlot> jobs;
    for (Position at; waiting.settle(lane, at); ++at.index) jobs.push_back(waiting.job(lane, at));
    return jobs;
}

TEST(WaitingJobs, AreWhatASortedVectorIs) {
    for (int seed = 1; seed <= pbs::test::cases(40); ++seed) {
        SCOPED_TRACE(seed);
        Random random{std::mt19937(static_cast<unsigned>(seed))};
        WaitingJobs waiting;
        const LaneId lane = waiting.lane(JobClass::normal, 7);
        std::map<WaitingKey, Entry> plain;
        const int jobs = random.pick(1, 3000);
        for (int i = 0; i < jobs * 2; ++i) {
            const auto job = static_cast<JobSlot>(random.pick(0, jobs));
            if (waiting.contains(job)) {
                std::erase_if(plain, [&](const auto& entry) { return entry.second.job == job; });
                waiting.remove(job);
            } else {
                const Entry e = random.entry(job);
                plain.emplace(e.key, e);
                waiting.insert(lane, e);
            }
        }
        std::vector<JobSlot> expected;
        std::int64_t charge = 0;
        for (const auto& [key, entry] : plain) {
            expected.push_back(entry.job);
            const Position at = waiting.position_of(entry.job);
            ASSERT_EQ(waiting.job(lane, at), entry.job);
            ASSERT_EQ(waiting.charge_before(lane, at), charge);
            charge += entry.charge;
        }
        ASSERT_EQ(all_of(waiting, lane), expected);
        ASSERT_EQ(waiting.size(), expected.size());
        std::erase_if(expected,
                      [&](JobSlot job) { return waiting.request_of(lane, waiting.position_of(job)) != 3; });
        ASSERT_THAT(waiting.mixed(), testing::UnorderedElementsAreArray(expected));
        for (int i = 0; i < 50; ++i) {
            SizeLimit limit{{random.pick(0, 30), random.pick(0, 30), random.pick(0, 30), random.pick(0, 30)},
                            random.pick(0, 5),
                            random.pick(0, 30)};
            std::vector<std::uint32_t> no_room;
            for (const std::uint32_t request : {1, 2, 3})
                if (random.pick(0, 3) == 0) no_room.push_back(request);
            std::vector<JobSlot> fit;
            for (const auto& [key, entry] : plain)
                if (limit.holds(entry.size) && std::ranges::find(no_room, entry.request) == no_room.end())
                    fit.push_back(entry.job);
            std::vector<JobSlot> found;
            for (Position at; waiting.find(lane, limit, at, no_room); ++at.index) {
                found.push_back(waiting.job(lane, at));
                ASSERT_EQ(waiting.request_of(lane, at), plain.at(waiting.key(lane, at)).request);
            }
            ASSERT_EQ(found, fit);
        }
        std::vector<JobSlot> due;
        waiting.find_due(Instant(Seconds(500)), due);
        ASSERT_EQ(due.size(), static_cast<std::size_t>(std::ranges::count_if(
                                  plain, [](const auto& entry) { return entry.second.waits_from <= 500; })));
    }
}

// With jobs of several lanes that come and go: each lane with a job is listed. One with a job that fits is
// found; one isn't if all of its jobs have too many nodes, are too long, or are far too wide.
TEST(WaitingJobs, LanesAreFoundByTheLeastOfTheirJobs) {
    std::size_t passed_over = 0;
    for (int seed = 1; seed <= pbs::test::cases(100); ++seed) {
        SCOPED_TRACE(seed);
        Random random{std::mt19937(static_cast<unsigned>(seed))};
        WaitingJobs waiting;
        std::map<LaneId, std::map<JobSlot, JobSize>> plain;
        for (int i = 0; i < 400; ++i) {
            const auto job = static_cast<JobSlot>(random.pick(0, 60));
            if (waiting.contains(job)) {
                plain[waiting.lane_of(job)].erase(job);
                waiting.remove(job);
            } else {
                const Entry e = random.entry(job);
                const auto job_class = random.pick(0, 1) == 0 ? JobClass::normal : JobClass::rest;
                const LaneId lane = waiting.lane(job_class, static_cast<std::uint32_t>(random.pick(0, 9)));
                plain[lane].emplace(job, e.size);
                waiting.insert(lane, e);
            }
            const SizeLimit limit{
                {random.pick(0, 30), random.pick(0, 30), random.pick(-1, 30), random.pick(0, 30)}, 0, 0};
            for (const JobClass job_class : {JobClass::normal, JobClass::rest}) {
                std::vector<LaneId> found;
                waiting.find_lanes(job_class, limit, {}, found);
                std::vector<LaneId> with_jobs;
                for (const auto& [lane, listed] : plain) {
                    const std::map<JobSlot, JobSize>& jobs = listed;
                    if (jobs.empty() || waiting[lane].job_class != job_class) continue;
                    with_jobs.push_back(lane);
                    const auto any = [&](auto may) {
                        return std::ranges::any_of(jobs,
                                                   [&](const auto& entry) { return may(entry.second); });
                    };
                    const bool is_found = std::ranges::find(found, lane) != found.end();
                    const bool fits = any([&](const JobSize& s) { return limit.holds(s); });
                    const bool could =
                        any([&](const JobSize& s) { return s.nodes <= limit.most.nodes; }) &&
                        any([&](const JobSize& s) {
                            return s.walltime <= limit.most.walltime && s.ncpus < 2 * limit.most.ncpus + 2;
                        });
                    ASSERT_TRUE(is_found || !fits);
                    ASSERT_TRUE(could || !is_found);
                    passed_over += is_found ? 0 : 1;
                }
                ASSERT_THAT(waiting.lanes_of(job_class), testing::UnorderedElementsAreArray(with_jobs));
            }
        }
    }
    EXPECT_GT(passed_over, 1000);
}

TEST(WaitingJobs, WhoIsDueIsFoundAgainUntilRemoved) {
    WaitingJobs waiting;
    const LaneId lane = waiting.lane(JobClass::normal, 1);
    for (JobSlot job = 0; job < 4; ++job)
        waiting.insert(lane, {job, {0, 0, job}, {1, 1, 1, 1}, 1, 100 * (job + 1)});
    const auto due = [&](std::int64_t seconds) {
        std::vector<JobSlot> jobs;
        waiting.find_due(Instant(Seconds(seconds)), jobs);
        return jobs;
    };
    EXPECT_THAT(due(99), testing::IsEmpty());
    EXPECT_THAT(due(200), testing::ElementsAre(0, 1));
    EXPECT_THAT(due(200), testing::ElementsAre(0, 1));
    waiting.remove(0);
    waiting.remove(1);
    EXPECT_THAT(due(299), testing::IsEmpty());
    waiting.insert(lane, {7, {0, 0, 7}, {1, 1, 1, 1}, 1, 250});
    EXPECT_THAT(due(299), testing::ElementsAre(7));
    EXPECT_THAT(due(300), testing::ElementsAre(2, 7));
}

TEST(WaitingJobs, JobsInOrderFillBlocks) {
    WaitingJobs waiting;
    const LaneId lane = waiting.lane(JobClass::special, 0);
    for (JobSlot job = 0; job < 5000; ++job) waiting.insert(lane, {job, {0, 0, job}, {1, 1, 1, 1}, 1, 0});
    EXPECT_EQ(waiting.lanes()[lane].blocks.size(), 10);
}

TEST(WaitingJobs, RemovingWhatIsNotThereIsHarmless) {
    WaitingJobs waiting;
    waiting.remove(5);
    EXPECT_EQ(waiting.size(), 0);
    EXPECT_FALSE(waiting.contains(5));
}

TEST(SizeLimit, AroundCoversAll) {
    const SizeLimit a{{10, 5, 3, 7}, 2, 9};
    const SizeLimit b{{4, 8, 3, 9}, 2, 1};
    const SizeLimit limits[] = {a, b};
    const SizeLimit around = SizeLimit::around(limits);
    EXPECT_TRUE(around.covers(a));
    EXPECT_TRUE(around.covers(b));
    EXPECT_FALSE(a.covers(b));
}

// Of users with equal usage, the order in which the permutation picks them.
TEST(PicksAt, IsTheOrderOfThePermutation) {
    std::size_t ties = 0;
    std::size_t unknown = 0;
    for (int seed = 1; seed <= pbs::test::cases(1000); ++seed) {
        SCOPED_TRACE(seed);
        Random random{std::mt19937(static_cast<unsigned>(seed))};
        const auto users = static_cast<std::uint32_t>(random.pick(1, 8));
        std::vector<std::int64_t> usage(users);
        for (std::int64_t& u : usage) u = random.pick(0, 6);
        std::vector<UsageJob> jobs(static_cast<std::size_t>(random.pick(1, 60)));
        WaitingJobs waiting;
        std::vector<UsageLane> lanes;
        for (std::uint32_t i = 0; i < jobs.size(); ++i) {
            jobs[i] = {static_cast<std::uint32_t>(random.pick(0, static_cast<int>(users) - 1)),
                       random.pick(1, 3)};
            const LaneId lane = waiting.lane(JobClass::normal, jobs[i].user);
            waiting.insert(lane, {i, {0, 0, i}, {1, 1, 1, 1}, jobs[i].charge, 0});
        }
        for (LaneId id = 0; id < waiting.lanes().size(); ++id) {
            const Lane& lane = waiting.lanes()[id];
            lanes.push_back({id, lane.jobs, waiting.key(id, {}), usage[lane.of]});
        }
        std::map<std::int64_t, std::vector<LaneId>> picks;  // by usage
        auto sums = usage;
        for (const auto i : permute_by_past_usage(jobs, usage)) {
            picks[sums[jobs[i].user]].push_back(waiting.lane_of(i));
            sums[jobs[i].user] += jobs[i].charge;
        }
        for (const auto& [at, expected] : picks) {
            const auto found = picks_at(waiting, lanes, at);
            if (expected.size() > 1) ++ties;
            if (found.empty())
                ++unknown;
            else
                ASSERT_EQ(found, expected) << "usage " << at;
        }
    }
    EXPECT_GT(ties, 100);
    EXPECT_GT(ties, unknown);
}

}  // namespace
}  // namespace pbs::sched::test

// Compares PendingJobs, which keeps pending jobs in sorted lanes (lists) from cycle to cycle, with sorted
// vectors and with the permutation by past usage.

#include "server_plugin/scheduler/pending/pending_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "tests/cases.h"
#include "tests/scheduler/permutation.h"

namespace pbs::sched::test {
namespace {

using Entry = PendingJobs::Entry;
using Position = PendingJobs::Position;

struct Random {
    std::mt19937 random;
    int pick(int from, int to) { return std::uniform_int_distribution(from, to)(random); }
    static constexpr int kFirstOfUsers = 22;  // as in blocker::kUsesOfUsers
    Blockers blockers() {
        const int of_user = pick(0, 2) == 0 ? kFirstOfUsers + pick(0, 3) : pick(0, 7);
        return 1U << of_user | 1U << pick(0, 7);
    }
    Releases releases(int first = 0) {
        Releases releases;
        for (int i = pick(0, 4); i > 0; --i)
            releases.add({1U << (first + pick(0, first > 0 ? 3 : 7)),
                          {pick(0, 30), pick(0, 30), pick(-1, 30), pick(0, 30)}});
        return releases;
    }
    Entry entry(JobSlot job) {
        Entry e;
        e.job = job;
        e.key = {static_cast<std::uint64_t>(pick(0, 50)), static_cast<std::uint64_t>(pick(0, 50)), job};
        e.size = {pick(1, 30), pick(0, 30), pick(0, 30), pick(0, 30)};
        e.charge = pick(1, 5);
        e.overdue_from = pick(0, 1000);
        e.signature = static_cast<std::uint32_t>(pick(0, 9));
        e.request = pick(0, 5) == 0 ? NoPlace::kAnyRequest : static_cast<std::uint32_t>(pick(0, 99));
        e.blockers = blockers();
        return e;
    }
    NoPlace no_place() {
        NoPlace none;
        for (int i = pick(0, 60); i > 0; --i)
            none.note(static_cast<std::uint32_t>(pick(0, 99)), pick(0, 3) == 0 ? 0 : pick(1, 40));
        return none;
    }
};

std::vector<JobSlot> all_of(const PendingJobs& pending, LaneId lane) {
    std::vector<JobSlot> jobs;
    for (Position at; pending.settle(lane, at); ++at.index) jobs.push_back(pending.job(lane, at));
    return jobs;
}

TEST(PendingJobs, AreWhatASortedVectorIs) {
    for (int seed = 1; seed <= pbs::test::cases(40); ++seed) {
        SCOPED_TRACE(seed);
        Random random{std::mt19937(static_cast<unsigned>(seed))};
        PendingJobs pending;
        const LaneId lane = pending.lane(JobClass::normal, 7);
        std::map<PendingKey, Entry> plain;
        std::map<JobSlot, std::uint32_t> parked_at;
        const auto since = [&, first = pending.clock()](JobSlot job) {
            const auto known = parked_at.find(job);
            return known == parked_at.end() ? first : known->second;
        };
        const int jobs = random.pick(1, 3000);
        if (seed % 2 == 0) {
            std::vector<Entry> first;
            for (JobSlot job = 0; job < static_cast<JobSlot>(jobs / 2); ++job)
                first.push_back(random.entry(job));
            for (const Entry& e : first) plain.emplace(e.key, e);
            const PendingJobs::Beginning beginning{lane, first};
            pending.fill({&beginning, 1});
        }
        for (int i = 0; i < jobs * 2; ++i) {
            const auto job = static_cast<JobSlot>(random.pick(0, jobs));
            if (pending.contains(job)) {
                std::erase_if(plain, [&](const auto& entry) { return entry.second.job == job; });
                pending.remove(job);
            } else {
                const Entry e = random.entry(job);
                plain.emplace(e.key, e);
                pending.insert(lane, e);
            }
        }
        std::vector<JobSlot> expected;
        std::int64_t charge = 0;
        for (const auto& [key, entry] : plain) {
            expected.push_back(entry.job);
            const Position at = pending.position_of(entry.job);
            ASSERT_EQ(pending.job(lane, at), entry.job);
            ASSERT_EQ(pending.charge_before(lane, at), charge);
            charge += entry.charge;
        }
        ASSERT_EQ(all_of(pending, lane), expected);
        ASSERT_EQ(pending.size(), expected.size());
        for (int i = 0; i < 50; ++i) {
            const auto parked = static_cast<std::size_t>(random.pick(0, static_cast<int>(plain.size()) - 1));
            if (!plain.empty()) {
                Entry& entry = std::next(plain.begin(), static_cast<std::ptrdiff_t>(parked))->second;
                entry.blockers = random.blockers();
                pending.park(lane, pending.position_of(entry.job), entry.blockers);
                parked_at[entry.job] = pending.clock();
                ASSERT_EQ(pending.parked_since(lane, pending.position_of(entry.job)), pending.clock());
            }
            const Releases releases = random.releases();
            std::vector<JobSlot> released;
            for (const auto& [key, entry] : plain)
                if (releases.hold(entry.blockers, entry.size)) released.push_back(entry.job);
            std::vector<JobSlot> found;
            for (Position at; pending.find(lane, releases, at); ++at.index) {
                found.push_back(pending.job(lane, at));
                ASSERT_EQ(pending.signature_of(lane, at), plain.at(pending.key(lane, at)).signature);
            }
            ASSERT_EQ(found, released);
            const NoPlace no_place = random.no_place();
            const Blockers others = random.blockers() & releases.blockers();
            std::erase_if(released, [&](JobSlot job) {
                const Entry& e = plain.at(pending.key(lane, pending.position_of(job)));
                return (e.blockers & others) == 0 && no_place.holds(e.request, e.size);
            });
            found.clear();
            for (Position at; pending.find(lane, releases, at, &no_place, others); ++at.index)
                found.push_back(pending.job(lane, at));
            ASSERT_EQ(found, released);
            released = {};
            // For a lane that was closed, they are under any blockers.
            const UserReleases of_users{random.releases(random.pick(0, 1) == 0 ? 0 : Random::kFirstOfUsers),
                                        static_cast<std::uint32_t>(random.pick(0, i + 1))};
            for (const auto& [key, entry] : plain)
                if (releases.hold(entry.blockers, entry.size) ||
                    of_users.hold(entry.blockers, entry.size, since(entry.job)))
                    released.push_back(entry.job);
            found.clear();
            for (Position at; pending.find(lane, releases, at, nullptr, 0, &of_users); ++at.index)
                found.push_back(pending.job(lane, at));
            ASSERT_EQ(found, released);
            if (random.pick(0, 1) == 0) pending.advance();
        }
        std::vector<JobSlot> due;
        pending.find_due(Instant(Seconds(500)), due);
        ASSERT_EQ(due.size(), static_cast<std::size_t>(std::ranges::count_if(plain, [](const auto& entry) {
                      return entry.second.overdue_from <= 500;
                  })));
    }
}

// A later note on another request may replace one, but none holds for a request or walltime that it isn't
// about.
TEST(NoPlace, HoldsForTheRequestFromTheWalltimeOn) {
    NoPlace none;
    const JobSize hour{1, 3600, 1, 1};
    EXPECT_FALSE(none.holds(NoPlace::kAnyRequest, kAnySize));
    EXPECT_FALSE(none.holds(3, kAnySize));
    none.note(3, 3601);
    EXPECT_FALSE(none.holds(3, hour));
    EXPECT_FALSE(none.holds(67, kAnySize));
    none.note(3, 3600);
    EXPECT_TRUE(none.holds(3, hour));
    EXPECT_FALSE(none.holds(3, JobSize{}));
    none.note(3, 0);
    EXPECT_TRUE(none.holds(3, JobSize{}));
    EXPECT_FALSE(none.holds(NoPlace::kAnyRequest, kAnySize));
}

// fill() puts many jobs into lanes with several threads. The lanes are equal to lanes into which the jobs
// were inserted one by one.
TEST(PendingJobs, AreTheSameFilledAtOnceOrOneByOne) {
    Random random{std::mt19937(3)};
    PendingJobs filled;
    PendingJobs inserted;
    std::vector<PendingJobs::Beginning> lanes;
    constexpr JobSlot kJobs = 50'000;
    constexpr std::uint32_t kUsers = 40;
    for (std::uint32_t user = 0; user < kUsers; ++user) {
        lanes.push_back({filled.lane(JobClass::normal, user), {}});
        ASSERT_EQ(inserted.lane(JobClass::normal, user), lanes.back().lane);
    }
    for (JobSlot job = 0; job < kJobs; ++job) {
        const Entry entry = random.entry(job);
        PendingJobs::Beginning& lane =
            lanes[job % 3 == 0 ? 0 : job % (kUsers - 1)];  // no job gets into the last lane
        lane.jobs.push_back(entry);
        inserted.insert(lane.lane, entry);
    }
    filled.fill(lanes);
    EXPECT_EQ(filled.size(), kJobs);
    EXPECT_THAT(filled.lanes_of(JobClass::normal),
                testing::UnorderedElementsAreArray(inserted.lanes_of(JobClass::normal)));
    EXPECT_EQ(filled.next_due(), inserted.next_due());
    for (const PendingJobs::Beginning& beginning : lanes) {
        const LaneId lane = beginning.lane;
        ASSERT_EQ(all_of(filled, lane), all_of(inserted, lane));
        const Releases releases = random.releases();
        Position a;
        Position b;
        for (; filled.find(lane, releases, a); ++a.index, ++b.index) {
            ASSERT_TRUE(inserted.find(lane, releases, b));
            ASSERT_EQ(filled.job(lane, a), inserted.job(lane, b));
            ASSERT_EQ(filled.charge_before(lane, a), inserted.charge_before(lane, b));
            ASSERT_EQ(filled.signature_of(lane, a), inserted.signature_of(lane, b));
        }
        ASSERT_FALSE(inserted.find(lane, releases, b));
    }
}

// Random jobs of several lanes (lists of jobs) are inserted and erased. The test checks that each lane with a
// job is listed, each lane with a released job is found, and most lanes without a released job are skipped.
TEST(PendingJobs, LanesAreFoundByTheLeastOfTheirJobs) {
    std::size_t passed_over = 0;
    std::size_t in_vain = 0;
    for (int seed = 1; seed <= pbs::test::cases(100); ++seed) {
        SCOPED_TRACE(seed);
        Random random{std::mt19937(static_cast<unsigned>(seed))};
        PendingJobs pending;
        std::map<LaneId, std::map<JobSlot, Entry>> plain;
        for (int i = 0; i < 400; ++i) {
            const auto job = static_cast<JobSlot>(random.pick(0, 60));
            if (pending.contains(job)) {
                plain[pending.lane_of(job)].erase(job);
                pending.remove(job);
            } else {
                const Entry e = random.entry(job);
                const auto job_class = random.pick(0, 1) == 0 ? JobClass::normal : JobClass::rest;
                const LaneId lane = pending.lane(job_class, static_cast<std::uint32_t>(random.pick(0, 9)));
                plain[lane].emplace(job, e);
                pending.insert(lane, e);
            }
            const Releases releases = random.releases();
            for (const JobClass job_class : {JobClass::normal, JobClass::rest}) {
                std::vector<LaneId> found;
                pending.find_lanes(job_class, releases, found);
                std::vector<LaneId> with_jobs;
                for (const auto& [lane, jobs] : plain) {
                    if (jobs.empty() || pending[lane].job_class != job_class) continue;
                    with_jobs.push_back(lane);
                    const bool is_found = std::ranges::find(found, lane) != found.end();
                    const bool released = std::ranges::any_of(jobs, [&](const auto& job_and_entry) {
                        const Entry& e = job_and_entry.second;
                        return releases.hold(e.blockers, e.size);
                    });
                    ASSERT_TRUE(is_found || !released);
                    passed_over += is_found ? 0 : 1;
                    in_vain += is_found && !released ? 1 : 0;
                }
                ASSERT_THAT(pending.lanes_of(job_class), testing::UnorderedElementsAreArray(with_jobs));
            }
        }
    }
    EXPECT_GT(passed_over, 1000);
    EXPECT_LT(in_vain, passed_over / 10);
}

TEST(PendingJobs, WhoIsDueIsFoundAndHasToBeRemoved) {
    PendingJobs pending;
    const LaneId lane = pending.lane(JobClass::normal, 1);
    for (JobSlot job = 0; job < 4; ++job)
        pending.insert(lane, {job, {0, 0, job}, {1, 1, 1, 1}, 1, 100 * (job + 1)});
    const auto due = [&](std::int64_t seconds) {
        std::vector<JobSlot> jobs;
        pending.find_due(Instant(Seconds(seconds)), jobs);
        return jobs;
    };
    EXPECT_THAT(due(99), testing::IsEmpty());
    EXPECT_EQ(pending.next_due(), Instant(Seconds(100)));
    EXPECT_THAT(due(200), testing::ElementsAre(0, 1));
    EXPECT_EQ(pending.next_due(), Instant(Seconds(300)));
    EXPECT_THAT(due(200), testing::IsEmpty());
    pending.remove(0);
    pending.remove(1);
    EXPECT_THAT(due(299), testing::IsEmpty());
    pending.insert(lane, {7, {0, 0, 7}, {1, 1, 1, 1}, 1, 250});
    EXPECT_THAT(due(299), testing::ElementsAre(7));
    EXPECT_THAT(due(300), testing::ElementsAre(2, 7)) << "who wasn't removed";
}

TEST(PendingJobs, JobsInOrderFillBlocks) {
    PendingJobs pending;
    const LaneId lane = pending.lane(JobClass::special, 0);
    for (JobSlot job = 0; job < 5000; ++job) pending.insert(lane, {job, {0, 0, job}, {1, 1, 1, 1}, 1, 0});
    EXPECT_EQ(pending.lanes()[lane].blocks.size(), 10);
}

TEST(PendingJobs, RemovingWhatIsNotThereIsHarmless) {
    PendingJobs pending;
    pending.remove(5);
    EXPECT_EQ(pending.size(), 0);
    EXPECT_FALSE(pending.contains(5));
}

TEST(Releases, WhatAnotherOneCoversIsNotListed) {
    Releases releases;
    releases.add({blocker::kRoom, {4, 8, 3, 9}});
    releases.add({blocker::kRoom, {4, 7, 3, 9}});
    EXPECT_EQ(releases.list().size(), 1);
    releases.add({blocker::kRoom | blocker::kStart, {5, 8, 3, 9}});
    EXPECT_EQ(releases.list().size(), 1);
    releases.add({blocker::kHeldUp, {1, 1, 1, 1}});
    EXPECT_EQ(releases.list().size(), 2);
    EXPECT_TRUE(releases.hold(blocker::kStart, {5, 8, 3, 9}));
    EXPECT_FALSE(releases.hold(blocker::kStart, {5, 8, 4, 9}));
    EXPECT_FALSE(releases.hold(blocker::kHeldUp, {5, 8, 3, 9}));
}

// picks_at() gives users with equal usage the order in which the permutation by past usage picks them.
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
        PendingJobs pending;
        std::vector<UsageLane> lanes;
        for (std::uint32_t i = 0; i < jobs.size(); ++i) {
            jobs[i] = {static_cast<std::uint32_t>(random.pick(0, static_cast<int>(users) - 1)),
                       random.pick(1, 3), (i * 37U) % 61U};
            const LaneId lane = pending.lane(JobClass::normal, jobs[i].user);
            PendingJobs::Entry entry{i, {0, 0, i}, {1, 1, 1, 1}, jobs[i].charge, 0};
            entry.sequence = jobs[i].sequence;
            pending.insert(lane, entry);
        }
        for (LaneId id = 0; id < pending.lanes().size(); ++id) {
            const Lane& lane = pending.lanes()[id];
            lanes.push_back({id, lane.jobs, pending.oldest(id), usage[lane.of]});
        }
        std::sort(lanes.begin(), lanes.end());
        std::map<std::int64_t, std::vector<LaneId>> picks;  // by usage: lanes in the order of their turns
        auto sums = usage;
        for (const auto i : permute_by_past_usage(jobs, usage)) {
            picks[sums[jobs[i].user]].push_back(pending.lane_of(i));
            sums[jobs[i].user] += jobs[i].charge;
        }
        for (const auto& [at, expected] : picks) {
            const auto found = picks_at(pending, lanes, at);
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

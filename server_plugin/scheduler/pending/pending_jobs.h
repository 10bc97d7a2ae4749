// The pending jobs of one scheduler, in the order of its policy. They last from cycle to cycle, each with the
// blockers of its last refusal, so that after an event a cycle finds the few jobs that may start now without
// looking at the others.
//
// Jobs are in lanes. A lane is a sorted list of the jobs of one class and of one user, queue or entity; a
// cycle goes back and forth between lanes. A lane's jobs are stored in blocks, in columns. Each block has the
// smallest of each size and the union of all blockers. A job is released if an event may have lifted its
// refusal. So a search for the first released job skips the blocks that can't have one.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "server_plugin/scheduler/pending/blockers.h"
#include "server_plugin/scheduler/state/cycle_state.h"

namespace pbs::sched {

// The numbers of a chain of comparators, packed. The job with the lesser key goes first. Keys are unique.
using PendingKey = std::array<std::uint64_t, 3>;

// The amounts that a job requests, cut off at the largest number of a column. As a limit: the most that a job
// may request.
struct JobSize {
    std::int32_t nodes = 0;
    std::int32_t walltime = 0;  // seconds; 0: none requested
    std::int32_t ncpus = 0;     // the least of any of its chunks
    std::int32_t mem = 0;       // the least of any of its chunks, in MB, rounded down

    bool holds(const JobSize& size) const {
        return size.walltime <= walltime && size.ncpus <= ncpus && size.mem <= mem && size.nodes <= nodes;
    }
    friend bool operator==(const JobSize&, const JobSize&) = default;
};
inline constexpr std::int32_t kNoLimit = INT32_MAX;
inline constexpr JobSize kAnySize{kNoLimit, kNoLimit, kNoLimit, kNoLimit};
inline constexpr JobSize kNoSize{-1, -1, -1, -1};

inline JobSize least_of(const JobSize& a, const JobSize& b) {
    return {std::min(a.nodes, b.nodes), std::min(a.walltime, b.walltime), std::min(a.ncpus, b.ncpus),
            std::min(a.mem, b.mem)};
}
inline JobSize most_of(const JobSize& a, const JobSize& b) {
    return {std::max(a.nodes, b.nodes), std::max(a.walltime, b.walltime), std::max(a.ncpus, b.ncpus),
            std::max(a.mem, b.mem)};
}

// A release, made by an event: jobs of at most this size that are parked under one of these blockers may
// start now.
struct Release {
    Blockers blockers = 0;
    JobSize most = kAnySize;
};
class Releases {
  public:
    void clear() {
        list_.clear();
        blockers_ = 0;
        most_ = kNoSize;
    }
    // Adds a release to the list, unless another one in it releases the same jobs.
    void add(const Release& release);
    bool empty() const { return list_.empty(); }
    std::span<const Release> list() const { return list_; }
    // The blockers of all releases together.
    Blockers blockers() const { return blockers_; }
    bool hold(Blockers parked, const JobSize& size) const {
        return (parked & blockers_) != 0 && most_.holds(size) &&
               (list_.size() == 1 || std::ranges::any_of(list_, [&](const Release& r) {
                    return (parked & r.blockers) != 0 && r.most.holds(size);
                }));
    }

  private:
    std::vector<Release> list_;
    Blockers blockers_ = 0;
    JobSize most_ = kNoSize;  // no released job is larger
};

// Releases of jobs that waited because of limits on their users: of one user's jobs, or of several users'
// that are in one lane. A job that was parked later was refused by such a limit as it is now. For a lane that
// was closed while other events happened, these are all releases that it has missed.
struct UserReleases {
    Releases list{};
    std::uint32_t parked_before = 0;  // by PendingJobs::clock()
    Blockers any_size = 0;            // blockers in `list` under which jobs of any size are released

    bool hold(Blockers parked, const JobSize& size, std::uint32_t since) const {
        return since < parked_before && list.hold(parked, size);
    }
};

// Requests for which there is no place at present, each with the walltime from which on there is none. It may
// have forgotten some.
class NoPlace {
  public:
    // The number of a request about which nothing is noted.
    static constexpr std::uint32_t kAnyRequest = UINT32_MAX;

    void note(std::uint32_t request, std::int64_t from) { of_[request % of_.size()] = {request, from}; }
    bool holds(std::uint32_t request, const JobSize& size) const {
        const Known& known = of_[request % of_.size()];
        return known.request == request && size.walltime >= known.from;
    }

  private:
    struct Known {
        std::uint32_t request = kAnyRequest;
        std::int64_t from = INT64_MAX;
    };
    std::array<Known, 64> of_;
};

using LaneId = std::uint32_t;

// The least walltime of jobs of up to 1, 2, 4, 8, 16, and of any number of CPUs.
using ShortestJobs = std::array<std::int32_t, 6>;
inline constexpr ShortestJobs kNoJobs{INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX, INT32_MAX};

struct Lane {
    JobClass job_class = JobClass::normal;
    // The slot of the queue, for jobs that start in their own queue; the user (number of group:user), for
    // normal jobs of other queues; else 0.
    std::uint32_t of = 0;
    std::uint32_t entity = 0;  // the entity of the fair-share tree; 0: any
    bool preempted = false;    // the jobs were preempted and haven't run since
    bool grows = false;  // the scores of the jobs, in their keys, are as of the Epoch, and all grow alike
    std::uint32_t jobs = 0;
    // The lane's index among the lanes of its class that have jobs.
    std::uint32_t place = 0;
    // The owner and the group of all its jobs.
    std::uint32_t owner = 0;
    std::uint32_t group = 0;
    bool of_one_user = true;
    // The PendingJobs::clock() at which limits on its user let no job start in any queue, so that it is
    // passed over until one counts fewer jobs; and at which it was first passed over. 0: never.
    std::uint32_t closed_at = 0;
    std::uint32_t behind_since = 0;
    std::vector<std::uint32_t> blocks;
    // The facts about a block that a search reads before its jobs.
    struct Sums {
        JobSize least{};
        ShortestJobs shortest = kNoJobs;
        // The blockers of its jobs, and perhaps of removed jobs.
        Blockers blockers = 0;
        // No job that is parked because of a limit on its user was parked before.
        std::uint32_t parked_from = UINT32_MAX;
        std::int64_t soonest = INT64_MAX;   // the least overdue_from
        std::uint64_t oldest = UINT64_MAX;  // the least sequence
    };
    std::vector<Sums> sums;  // by block
};

class PendingJobs {
  public:
    struct Entry {
        JobSlot job = kNoSlot;
        PendingKey key{};
        JobSize size;
        std::int64_t charge = 0;  // the amount that the job adds to the past usage of its user
        // The instant at which the job becomes overdue, in seconds since the Epoch; INT64_MAX: never.
        std::int64_t overdue_from = 0;
        std::uint32_t signature = 0;
        // The number of its request in Requests, if a search for a place for the request and the walltime of
        // `size` is one for the job, too.
        std::uint32_t request = NoPlace::kAnyRequest;
        Blockers blockers = blocker::kAnything;
        std::uint64_t sequence = 0;  // the job's number or rank
        std::uint32_t owner = 0;
        std::uint32_t group = 0;
    };
    // A job's position in its lane. Valid until the lane changes.
    struct Position {
        std::uint32_t block = 0;
        std::uint32_t index = 0;
        friend auto operator<=>(const Position&, const Position&) = default;
    };

    void clear();
    // Returns the lane of jobs of this class, user or queue, and entity; makes one if there is none.
    LaneId lane(JobClass job_class, std::uint32_t of, std::uint32_t entity = 0, bool preempted = false,
                bool grows = false);
    std::span<const Lane> lanes() const { return lanes_; }
    const Lane& operator[](LaneId lane) const { return lanes_[lane]; }
    // Returns the lanes of a class that have jobs, in no order.
    std::span<const LaneId> lanes_of(JobClass job_class) const { return of_class(job_class).lanes; }
    // Finds the lanes of a class that may have a released job. It uses the blockers of a lane, the walltime
    // of its shortest jobs (for several numbers of CPUs, each twice the last), and the sizes of its smallest
    // jobs.
    void find_lanes(JobClass job_class, const Releases& releases, std::vector<LaneId>& out);
    // The time by which jobs note when they were parked: 1, and 1 more for each call of advance().
    std::uint32_t clock() const { return clock_; }
    void advance() { ++clock_; }
    // close() notes that no job of the lane can start because of its user, and open() that one may. A lane
    // that was closed is behind: find_lanes() finds it until catch_up().
    void close(LaneId lane);
    void open(LaneId lane) { lanes_[lane].closed_at = 0; }
    void catch_up(LaneId lane);
    void catch_up_all();

    // The jobs with which an empty lane is filled, in any order.
    struct Beginning {
        LaneId lane = 0;
        std::vector<Entry> jobs;
    };
    // Fills empty lanes. O(n log n). With many jobs, several cores share the work.
    void fill(std::span<const Beginning> lanes);
    // Adds a job. O(sqrt n) for n jobs in the lane; O(1) for a job that comes last in its lane.
    void insert(LaneId lane, const Entry& entry);
    // Removes a job. Does nothing if there is no such job.
    void remove(JobSlot job);
    bool contains(JobSlot job) const { return job < block_of_.size() && block_of_[job] != kNone; }
    std::size_t size() const { return size_; }

    // Moves `at` to the first released job at or after it. False: there is none. Passes over jobs without a
    // place (`no_place`), unless they are parked under one of the blockers `others`. `of_users`: further
    // releases; null: none.
    bool find(LaneId lane, const Releases& releases, Position& at, const NoPlace* no_place = nullptr,
              Blockers others = 0, const UserReleases* of_users = nullptr);
    // Parks the job at a position under these blockers.
    void park(LaneId lane, Position at, Blockers blockers);
    Blockers blockers_of(LaneId lane, Position at) const { return block(lane, at).blockers[at.index]; }
    // Returns the clock() at which the job was parked.
    std::uint32_t parked_since(LaneId lane, Position at) const { return block(lane, at).since[at.index]; }
    // Returns whether there is a job at this position. Moves `at` to the next block if its block has ended.
    bool settle(LaneId lane, Position& at) const;
    // Returns the position that is `jobs` jobs further on in the same block. nullopt: the block ends before.
    std::optional<Position> ahead(LaneId lane, Position at, std::uint32_t jobs) const {
        if (at.block >= lanes_[lane].blocks.size() || at.index + jobs >= block(lane, at).jobs.size())
            return std::nullopt;
        return Position{at.block, at.index + jobs};
    }
    LaneId lane_of(JobSlot job) const { return blocks_[block_of_[job]].lane; }
    Position position_of(JobSlot job) const;
    JobSlot job(LaneId lane, Position at) const { return block(lane, at).jobs[at.index]; }
    // Returns the sequence of the oldest job of the lane.
    std::uint64_t oldest(LaneId lane) const {
        const auto& sums = lanes_[lane].sums;
        return sums.empty() ? UINT64_MAX : std::ranges::min(sums, {}, &Lane::Sums::oldest).oldest;
    }
    const PendingKey& key(LaneId lane, Position at) const { return block(lane, at).keys[at.index]; }
    std::uint32_t signature_of(LaneId lane, Position at) const {
        return block(lane, at).signatures[at.index];
    }
    std::uint32_t request_of(LaneId lane, Position at) const { return block(lane, at).requests[at.index]; }
    // The data that a cycle needs of the job at a position.
    struct Taken {
        JobSlot job;
        std::uint32_t signature;
        std::int32_t nodes;
        std::int64_t charge;
    };
    Taken at(LaneId lane, Position at) const {
        const Block& b = block(lane, at);
        return {b.jobs[at.index], b.signatures[at.index], b.sizes[at.index].nodes, b.charges[at.index]};
    }
    JobSize size_of(LaneId lane, Position at) const { return block(lane, at).sizes[at.index]; }
    // Returns the sum of the charges of the lane's jobs before this one.
    std::int64_t charge_before(LaneId lane, Position at) const;
    // The place that the permutation by past usage (past_usage_deal.h) has reached in a lane after all picks
    // below `usage`. The lane's user begins with the usage `base`.
    struct Reached {
        std::optional<std::int64_t> before;  // the usage at the lane's last pick below `usage`
        bool at = false;                     // a job is picked at `usage`
        bool left = false;                   // the lane has a job left
        bool free_pick = false;              // the job picked at `usage` has no charge
    };
    Reached reached(LaneId lane, std::int64_t base, std::int64_t usage) const;
    // Finds the normal jobs that have become overdue by `now`. The caller has to remove them. O(1) while
    // there are none.
    void find_due(Instant now, std::vector<JobSlot>& out);
    // Returns an instant before which no normal job becomes overdue. nullopt: none ever does.
    std::optional<Instant> next_due() const {
        if (soonest_ == INT64_MAX) return std::nullopt;
        return Instant(Seconds(soonest_));
    }

  private:
    static constexpr std::uint32_t kNone = UINT32_MAX;
    static constexpr std::uint32_t kMostInBlock = 512;
    struct Block {
        LaneId lane = 0;
        std::int64_t charge = 0;  // the sum of all charges
        std::vector<PendingKey> keys;
        std::vector<JobSlot> jobs;
        std::vector<JobSize> sizes;  // a search reads them all, four to a cache line
        std::vector<Blockers> blockers;
        std::vector<std::uint32_t> since;  // see clock()
        std::vector<std::uint32_t> signatures;
        std::vector<std::uint32_t> requests;
        std::vector<std::int64_t> charges;
        std::vector<std::int64_t> overdue_from;
        std::vector<std::uint64_t> sequences;
        void put(std::ptrdiff_t at, const Entry& entry, std::uint32_t now);
        void set(std::size_t at, const Entry& entry, std::uint32_t now);
        // Calls f with each column of `a` and the same column of `b`.
        template <class F>
        static void each_column(Block& a, Block& b, F f) {
            f(a.keys, b.keys);
            f(a.jobs, b.jobs);
            f(a.sizes, b.sizes);
            f(a.blockers, b.blockers);
            f(a.since, b.since);
            f(a.signatures, b.signatures);
            f(a.requests, b.requests);
            f(a.charges, b.charges);
            f(a.overdue_from, b.overdue_from);
            f(a.sequences, b.sequences);
        }
    };
    // A release in the form for comparison with a LaneLeast.
    struct LaneRelease {
        explicit LaneRelease(const Release& release);
        Blockers blockers;
        std::size_t cpu_class;
        JobSize most;
    };
    // The least requests of a lane's jobs, and their blockers.
    struct LaneLeast {
        ShortestJobs walltime;
        std::int32_t nodes;
        std::int32_t mem;
        Blockers blockers;
        bool outdated;  // a job with one of the least sizes has been removed
        bool behind;    // Lane::behind_since isn't 0
        void add(const JobSize& size);
        bool may_hold(const LaneRelease& release) const {
            return (blockers & release.blockers) != 0 && nodes <= release.most.nodes &&
                   mem <= release.most.mem && walltime[release.cpu_class] <= release.most.walltime;
        }
    };
    static constexpr LaneLeast kNothing{kNoJobs, INT32_MAX, INT32_MAX, 0, false, false};
    // The lanes of a class with jobs.
    struct ClassLanes {
        std::vector<LaneId> lanes;
        std::vector<LaneLeast> least;
    };
    const ClassLanes& of_class(JobClass job_class) const {
        return by_class_[static_cast<std::size_t>(job_class)];
    }
    ClassLanes& of_class(JobClass job_class) { return by_class_[static_cast<std::size_t>(job_class)]; }
    void list_lane(LaneId lane);
    void take_off_lane(LaneId lane);
    LaneLeast least_of_lane(LaneId lane) const;
    bool may_hold(ClassLanes& all, std::size_t place, std::span<const LaneRelease> of_lane,
                  const Releases& releases);
    static bool may_hold(const Lane::Sums& sums, const Releases& releases);
    static bool may_hold(const Lane::Sums& sums, const UserReleases* of_users) {
        if (of_users == nullptr) return false;
        const bool only_limits = (of_users->list.blockers() & ~blocker::kUsesOfUsers) == 0;
        return (!only_limits || sums.parked_from < of_users->parked_before) && may_hold(sums, of_users->list);
    }
    const Block& block(LaneId lane, Position at) const { return blocks_[lanes_[lane].blocks[at.block]]; }
    std::uint32_t new_block(LaneId lane, std::size_t place);
    void drop_block(LaneId lane, std::size_t place);
    void split(LaneId lane, std::size_t place);
    void sum_up(LaneId lane, std::size_t place);
    void fill_blocks(const Beginning& beginning);
    static void add_user(Lane& lane, const Entry& entry, bool is_first);
    std::size_t place_of(std::uint32_t block) const;

    std::vector<Lane> lanes_;
    std::unordered_map<std::uint64_t, LaneId> lane_ids_;  // by class, entity and Lane::of
    std::vector<Block> blocks_;
    std::vector<std::uint32_t> unused_;    // the numbers of unused blocks
    std::vector<std::uint32_t> block_of_;  // by job: the number of its block
    std::size_t size_ = 0;
    std::uint32_t clock_ = 1;
    std::array<ClassLanes, 6> by_class_;
    std::int64_t soonest_ = INT64_MAX;  // the least overdue_from of normal jobs, or less
};

// A user at the beginning of the permutation by past usage. The circle begins with the user with the fewest
// jobs; among equal numbers, the user whose oldest job is older. (The Origin scheduler listed the users
// before it sorted the jobs.)
struct UsageLane {
    LaneId lane = 0;
    std::uint32_t jobs = 0;
    std::uint64_t oldest = 0;
    std::int64_t usage = 0;

    bool operator<(const UsageLane& other) const {
        return jobs != other.jobs ? jobs < other.jobs : oldest < other.oldest;
    }
};

// The permutation by past usage (past_usage_deal.h) picks the next job of the user with the least usage.
// Returns the lanes of the users that it picks while the least usage is `usage`, in the order of the picks.
// `lanes`: the lanes of all users, in the order of the circle. A pick follows from the one before it; if that
// is tied, too, from the one before that, and so on. The result is empty if that takes too many steps.
std::vector<LaneId> picks_at(const PendingJobs& waiting, std::vector<UsageLane> lanes, std::int64_t usage);

}  // namespace pbs::sched

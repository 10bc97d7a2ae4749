#include "server_plugin/scheduler/pending/pending_jobs.h"

#include <bit>
#include <cassert>
#include <functional>
#include <numeric>

#include "server_plugin/scheduler/model/share_out.h"

namespace pbs::sched {

void Releases::add(const Release& release) {
    blockers_ |= release.blockers;
    most_ = most_of(most_, release.most);
    const auto covers = [](const Release& more, const Release& less) {
        return (less.blockers & ~more.blockers) == 0 && more.most.holds(less.most);
    };
    if (std::ranges::any_of(list_, [&](const Release& known) { return covers(known, release); })) return;
    std::erase_if(list_, [&](const Release& known) { return covers(release, known); });
    const auto same = std::ranges::find(list_, release.most, &Release::most);
    if (same == list_.end())
        list_.push_back(release);
    else
        same->blockers |= release.blockers;
}

namespace {

constexpr std::uint32_t kFewJobs = 64;

// Returns the class of a number of CPUs: up to 1, 2, 4, 8, 16, or any number.
std::size_t cpu_class(std::int32_t ncpus) {
    return std::min<std::size_t>(5, std::bit_width(static_cast<std::uint32_t>(std::max(1, ncpus)) - 1));
}

void add(const JobSize& size, ShortestJobs& shortest) {
    for (std::size_t i = cpu_class(size.ncpus); i < shortest.size(); ++i)
        shortest[i] = std::min(shortest[i], size.walltime);
}

}  // namespace

void PendingJobs::clear() {
    const std::uint32_t now = clock_;
    *this = {};
    clock_ = now;
}

LaneId PendingJobs::lane(JobClass job_class, std::uint32_t of, std::uint32_t entity, bool preempted,
                         bool grows) {
    const auto kind = static_cast<std::uint64_t>(job_class) | (preempted ? 8U : 0U) | (grows ? 16U : 0U);
    const auto key = (static_cast<std::uint64_t>(entity) << 5 | kind) << 32 | of;
    const auto [place, made] = lane_ids_.try_emplace(key, static_cast<LaneId>(lanes_.size()));
    if (made) {
        Lane& lane = lanes_.emplace_back();
        lane.job_class = job_class;
        lane.of = of;
        lane.entity = entity;
        lane.preempted = preempted;
        lane.grows = grows;
    }
    return place->second;
}

void PendingJobs::list_lane(LaneId id) {
    ClassLanes& all = of_class(lanes_[id].job_class);
    lanes_[id].place = static_cast<std::uint32_t>(all.lanes.size());
    all.lanes.push_back(id);
    all.least.push_back(kNothing);
}

// Removes a lane without jobs from the list of its class's lanes. The last lane of the list takes its place.
void PendingJobs::take_off_lane(LaneId id) {
    ClassLanes& all = of_class(lanes_[id].job_class);
    const std::uint32_t place = lanes_[id].place;
    lanes_[all.lanes.back()].place = place;
    all.lanes[place] = all.lanes.back();
    all.least[place] = all.least.back();
    all.lanes.pop_back();
    all.least.pop_back();
}

PendingJobs::LaneLeast PendingJobs::least_of_lane(LaneId id) const {
    LaneLeast least = kNothing;
    least.behind = lanes_[id].behind_since != 0;
    for (const std::uint32_t number : lanes_[id].blocks) {
        const Block& b = blocks_[number];
        for (const JobSize& size : b.sizes) least.add(size);
    }
    for (const Lane::Sums& sums : lanes_[id].sums) least.blockers |= sums.blockers;
    return least;
}

void PendingJobs::LaneLeast::add(const JobSize& size) {
    sched::add(size, walltime);
    nodes = std::min(nodes, size.nodes);
    mem = std::min(mem, size.mem);
}

PendingJobs::LaneRelease::LaneRelease(const Release& release)
    : blockers(release.blockers), cpu_class(sched::cpu_class(release.most.ncpus)), most(release.most) {}

// Returns whether the lane at this index of its class may have a released job. If the lane's least sizes are
// outdated and within a release, computes them again.
bool PendingJobs::may_hold(ClassLanes& all, std::size_t place, std::span<const LaneRelease> of_lane,
                           const Releases& releases) {
    const auto may = [&] {
        return std::ranges::any_of(of_lane,
                                   [&](const LaneRelease& r) { return all.least[place].may_hold(r); });
    };
    if (!may()) return false;
    const LaneId lane = all.lanes[place];
    if (all.least[place].outdated) {
        all.least[place] = least_of_lane(lane);
        if (!may()) return false;
    }
    // The least sizes of a lane may be those of different jobs: search a lane of few jobs for one that fits.
    Position at;
    return lanes_[lane].jobs > kFewJobs || find(lane, releases, at);
}

void PendingJobs::find_lanes(JobClass job_class, const Releases& releases, std::vector<LaneId>& out) {
    const std::vector<LaneRelease> of_lane(releases.list().begin(), releases.list().end());
    ClassLanes& all = of_class(job_class);
    for (std::size_t i = 0; i < all.lanes.size(); ++i)
        if (all.least[i].behind ||
            ((all.least[i].blockers & releases.blockers()) != 0 && may_hold(all, i, of_lane, releases)))
            out.push_back(all.lanes[i]);
}

void PendingJobs::close(LaneId id) {
    Lane& lane = lanes_[id];
    lane.closed_at = clock_;
    if (lane.behind_since == 0) lane.behind_since = clock_;
    of_class(lane.job_class).least[lane.place].behind = true;
}

void PendingJobs::catch_up(LaneId id) {
    Lane& lane = lanes_[id];
    lane.behind_since = 0;
    of_class(lane.job_class).least[lane.place].behind = false;
}

void PendingJobs::catch_up_all() {
    for (const ClassLanes& all : by_class_)
        for (const LaneId id : all.lanes) {
            open(id);
            catch_up(id);
        }
}

std::uint32_t PendingJobs::new_block(LaneId id, std::size_t place) {
    std::uint32_t number = static_cast<std::uint32_t>(blocks_.size());
    if (unused_.empty()) {
        blocks_.emplace_back();
    } else {
        number = unused_.back();
        unused_.pop_back();
    }
    blocks_[number].lane = id;
    Lane& lane = lanes_[id];
    const auto at = static_cast<std::ptrdiff_t>(place);
    lane.blocks.insert(lane.blocks.begin() + at, number);
    lane.sums.emplace(lane.sums.begin() + at);
    return number;
}

void PendingJobs::drop_block(LaneId id, std::size_t place) {
    Lane& lane = lanes_[id];
    const auto at = static_cast<std::ptrdiff_t>(place);
    // Most lanes have a job now and then, so retain the memory for a few jobs.
    Block& b = blocks_[lane.blocks[place]];
    if (b.jobs.capacity() > kFewJobs) b = {};
    b.charge = 0;
    Block::each_column(b, b, [](auto& column, auto&) { column.clear(); });
    unused_.push_back(lane.blocks[place]);
    lane.blocks.erase(lane.blocks.begin() + at);
    lane.sums.erase(lane.sums.begin() + at);
}

// Computes the sums and the charge of a block again.
void PendingJobs::sum_up(LaneId id, std::size_t place) {
    Lane& lane = lanes_[id];
    Block& b = blocks_[lane.blocks[place]];
    Lane::Sums sums;
    sums.least = std::accumulate(b.sizes.begin() + 1, b.sizes.end(), b.sizes.front(), least_of);
    for (const JobSize& size : b.sizes) sched::add(size, sums.shortest);
    sums.soonest = std::ranges::min(b.overdue_from);
    sums.oldest = std::ranges::min(b.sequences);
    sums.blockers = std::accumulate(b.blockers.begin(), b.blockers.end(), Blockers{0}, std::bit_or<>());
    sums.parked_from = std::ranges::min(b.since);
    lane.sums[place] = sums;
    b.charge = std::accumulate(b.charges.begin(), b.charges.end(), std::int64_t{0});
}

void PendingJobs::split(LaneId id, std::size_t place) {
    const std::uint32_t upper = new_block(id, place + 1);
    const std::uint32_t lower = lanes_[id].blocks[place];
    Block::each_column(blocks_[lower], blocks_[upper], [](auto& from, auto& to) {
        const auto half = from.begin() + kMostInBlock / 2;
        to.assign(half, from.end());
        from.erase(half, from.end());
    });
    for (const JobSlot job : blocks_[upper].jobs) block_of_[job] = upper;
    sum_up(id, place);
    sum_up(id, place + 1);
}

void PendingJobs::Block::put(std::ptrdiff_t at, const Entry& e, std::uint32_t now) {
    each_column(*this, *this, [&](auto& column, auto&) { column.emplace(column.begin() + at); });
    set(static_cast<std::size_t>(at), e, now);
}

void PendingJobs::Block::set(std::size_t at, const Entry& e, std::uint32_t now) {
    keys[at] = e.key;
    jobs[at] = e.job;
    sizes[at] = e.size;
    blockers[at] = e.blockers;
    since[at] = now;
    signatures[at] = e.signature;
    requests[at] = e.request;
    charges[at] = e.charge;
    overdue_from[at] = e.overdue_from;
    sequences[at] = e.sequence;
}

void PendingJobs::fill(std::span<const Beginning> lanes) {
    std::size_t jobs = 0;
    JobSlot last = 0;
    for (const auto& [id, entries] : lanes) {
        if (entries.empty()) continue;
        list_lane(id);
        for (std::size_t from = 0; from < entries.size(); from += kMostInBlock)
            new_block(id, lanes_[id].blocks.size());
        jobs += entries.size();
        lanes_[id].jobs = static_cast<std::uint32_t>(entries.size());
        for (const Entry& entry : entries) last = std::max(last, entry.job);
    }
    size_ += jobs;
    if (block_of_.size() <= last) block_of_.resize(last + 1, kNone);
    share_out(jobs, lanes.size(), [&](std::size_t i) { fill_blocks(lanes[i]); });
    for (const auto& [id, entries] : lanes)
        if (lanes_[id].job_class == JobClass::normal)
            for (const Lane::Sums& sums : lanes_[id].sums) soonest_ = std::min(soonest_, sums.soonest);
}

// Several threads call this at once. Each call writes only data of its lane and of the lane's jobs.
void PendingJobs::fill_blocks(const Beginning& beginning) {
    const auto& entries = beginning.jobs;
    if (entries.empty()) return;
    struct Keyed {
        PendingKey key;
        std::uint32_t entry;
    };
    std::vector<Keyed> order;
    order.reserve(entries.size());
    for (const Entry& e : entries) order.push_back({e.key, static_cast<std::uint32_t>(order.size())});
    std::ranges::sort(order, {}, &Keyed::key);
    Lane& lane = lanes_[beginning.lane];
    LaneLeast& of_lane = of_class(lane.job_class).least[lane.place];
    std::span<const Keyed> rest = order;
    for (std::size_t place = 0; place < lane.blocks.size(); ++place) {
        const std::uint32_t number = lane.blocks[place];
        Block& b = blocks_[number];
        const std::size_t count = std::min<std::size_t>(kMostInBlock, rest.size());
        Block::each_column(b, b, [&](auto& column, auto&) { column.resize(count); });
        for (std::size_t i = 0; i < count; ++i) {
            const Entry& e = entries[rest[i].entry];
            b.set(i, e, clock_);
            add_user(lane, e, place == 0 && i == 0);
            of_lane.add(e.size);
            block_of_[e.job] = number;
        }
        rest = rest.subspan(count);
        sum_up(beginning.lane, place);
        of_lane.blockers |= lane.sums[place].blockers;
    }
}

// Notes the user of a job that is put into the lane.
void PendingJobs::add_user(Lane& lane, const Entry& e, bool is_first) {
    if (is_first) {
        lane.owner = e.owner;
        lane.group = e.group;
        lane.of_one_user = true;
        lane.closed_at = lane.behind_since = 0;
    } else if (e.owner != lane.owner || e.group != lane.group) {
        lane.of_one_user = false;
    }
}

void PendingJobs::insert(LaneId id, const Entry& e) {
    assert(!contains(e.job));  // a job has one turn
    if (block_of_.size() <= e.job) block_of_.resize(e.job + 1, kNone);
    Lane& lane = lanes_[id];
    if (lane.blocks.empty()) new_block(id, 0);
    // The job belongs to the last block that begins before it.
    const auto after = std::ranges::upper_bound(
        lane.blocks.begin() + 1, lane.blocks.end(), e.key, {},
        [&](std::uint32_t b) -> const PendingKey& { return blocks_[b].keys.front(); });
    std::size_t place = static_cast<std::size_t>(after - lane.blocks.begin()) - 1;
    if (blocks_[lane.blocks[place]].jobs.size() == kMostInBlock) {
        const bool behind = blocks_[lane.blocks[place]].keys.back() < e.key;
        if (behind && place + 1 == lane.blocks.size()) {
            new_block(id, ++place);  // jobs that arrive in order fill block after block
        } else {
            split(id, place);
            if (blocks_[lane.blocks[place + 1]].keys.front() < e.key) ++place;
        }
    }
    const std::uint32_t number = lane.blocks[place];
    Block& b = blocks_[number];
    const auto at = std::ranges::lower_bound(b.keys, e.key) - b.keys.begin();
    const bool first = b.jobs.empty();
    b.put(at, e, clock_);
    add_user(lane, e, lane.jobs == 0);
    b.charge += e.charge;
    Lane::Sums& sums = lane.sums[place];
    sums.least = first ? e.size : least_of(sums.least, e.size);
    sched::add(e.size, sums.shortest);
    sums.soonest = std::min(sums.soonest, e.overdue_from);
    sums.oldest = std::min(sums.oldest, e.sequence);
    sums.parked_from = std::min(sums.parked_from, clock_);
    if (lane.job_class == JobClass::normal) soonest_ = std::min(soonest_, e.overdue_from);
    if (lane.jobs == 0) list_lane(id);
    sums.blockers |= e.blockers;
    LaneLeast& of_lane = of_class(lane.job_class).least[lane.place];
    of_lane.add(e.size);
    of_lane.blockers |= e.blockers;
    block_of_[e.job] = number;
    ++lane.jobs;
    ++size_;
}

std::size_t PendingJobs::place_of(std::uint32_t number) const {
    const auto& blocks = lanes_[blocks_[number].lane].blocks;
    return static_cast<std::size_t>(std::ranges::find(blocks, number) - blocks.begin());
}

void PendingJobs::remove(JobSlot job) {
    if (!contains(job)) return;
    const std::uint32_t number = block_of_[job];
    const LaneId id = blocks_[number].lane;
    const std::size_t place = place_of(number);
    Block& b = blocks_[number];
    const auto at = std::ranges::find(b.jobs, job) - b.jobs.begin();
    const JobSize size = b.sizes[static_cast<std::size_t>(at)];
    Block::each_column(b, b, [&](auto& column, auto&) { column.erase(column.begin() + at); });
    block_of_[job] = kNone;
    --lanes_[id].jobs;
    --size_;
    if (b.jobs.empty())
        drop_block(id, place);
    else
        sum_up(id, place);
    LaneLeast& of_lane = of_class(lanes_[id].job_class).least[lanes_[id].place];
    const bool one_of_the_least = size.walltime <= of_lane.walltime[cpu_class(size.ncpus)] ||
                                  size.nodes <= of_lane.nodes || size.mem <= of_lane.mem;
    of_lane.outdated = of_lane.outdated || one_of_the_least;
    if (lanes_[id].jobs == 0) take_off_lane(id);
}

bool PendingJobs::settle(LaneId id, Position& at) const {
    const Lane& lane = lanes_[id];
    if (at.block < lane.blocks.size() && at.index >= block(id, at).jobs.size()) at = {at.block + 1, 0};
    return at.block < lane.blocks.size();
}

// Returns whether the lane's block may have a released job. The least sizes of a block may be those of
// different jobs, so the walltime is compared with that of jobs with few enough CPUs.
bool PendingJobs::may_hold(const Lane::Sums& sums, const Releases& releases) {
    const Blockers parked = sums.blockers;
    return (parked & releases.blockers()) != 0 && std::ranges::any_of(releases.list(), [&](const Release& r) {
               return (parked & r.blockers) != 0 && r.most.holds(sums.least) &&
                      sums.shortest[cpu_class(r.most.ncpus)] <= r.most.walltime;
           });
}

bool PendingJobs::find(LaneId id, const Releases& releases, Position& at, const NoPlace* no_place,
                       Blockers others, const UserReleases* of_users) {
    Lane& lane = lanes_[id];
    const Blockers any = releases.blockers() | (of_users != nullptr ? of_users->list.blockers() : 0);
    LaneLeast& of_lane = of_class(lane.job_class).least[lane.place];
    if (lane.jobs == 0 || (of_lane.blockers & any) == 0) return false;
    const bool whole_lane = at == Position{};
    for (; at.block < lane.blocks.size(); at = {at.block + 1, 0}) {
        Lane::Sums& sums = lane.sums[at.block];
        const UserReleases* const further = may_hold(sums, of_users) ? of_users : nullptr;
        if (further == nullptr && !may_hold(sums, releases)) continue;
        const Block& b = block(id, at);
        const bool whole_block = at.index == 0;
        const std::span<const JobSize> sizes = b.sizes;
        const Blockers* const parked = b.blockers.data();
        Blockers seen = 0;
        std::uint32_t since = UINT32_MAX;
        for (std::size_t i = at.index; i < sizes.size(); ++i) {
            seen |= parked[i];
            if ((parked[i] & blocker::kUsesOfUsers) != 0) since = std::min(since, b.since[i]);
            if (!releases.hold(parked[i], sizes[i]) &&
                (further == nullptr || !further->hold(parked[i], sizes[i], b.since[i])))
                continue;
            if (no_place != nullptr && (parked[i] & others) == 0 && no_place->holds(b.requests[i], sizes[i]))
                continue;
            at.index = static_cast<std::uint32_t>(i);
            return true;
        }
        if (!whole_block) continue;
        sums.blockers = seen;
        sums.parked_from = since;
    }
    if (whole_lane)
        of_lane.blockers =
            std::accumulate(lane.sums.begin(), lane.sums.end(), Blockers{0},
                            [](Blockers all, const Lane::Sums& sums) { return all | sums.blockers; });
    return false;
}

void PendingJobs::park(LaneId id, Position at, Blockers blockers) {
    Lane& lane = lanes_[id];
    Block& b = blocks_[lane.blocks[at.block]];
    b.blockers[at.index] = blockers;
    b.since[at.index] = clock_;
    Lane::Sums& sums = lane.sums[at.block];
    sums.blockers |= blockers;
    sums.parked_from = std::min(sums.parked_from, clock_);
    of_class(lane.job_class).least[lane.place].blockers |= blockers;
}

PendingJobs::Position PendingJobs::position_of(JobSlot job) const {
    const std::uint32_t number = block_of_[job];
    const Block& b = blocks_[number];
    return {static_cast<std::uint32_t>(place_of(number)),
            static_cast<std::uint32_t>(std::ranges::find(b.jobs, job) - b.jobs.begin())};
}

std::int64_t PendingJobs::charge_before(LaneId id, Position at) const {
    std::int64_t sum = 0;
    const Lane& lane = lanes_[id];
    for (std::size_t i = 0; i < at.block; ++i) sum += blocks_[lane.blocks[i]].charge;
    const auto& charges = block(id, at).charges;
    return std::accumulate(charges.begin(), charges.begin() + at.index, sum);
}

PendingJobs::Reached PendingJobs::reached(LaneId id, std::int64_t base, std::int64_t usage) const {
    const Lane& lane = lanes_[id];
    Reached out;
    std::int64_t sum = base;
    std::size_t place = 0;
    // Skip blocks whose last pick is below `usage`. The usage at that pick is the usage at the end of the
    // block less the last charge.
    for (; place < lane.blocks.size(); ++place) {
        const Block& b = blocks_[lane.blocks[place]];
        if (sum + b.charge >= usage) break;
        sum += b.charge;
        out.before = sum - b.charges.back();
    }
    for (; place < lane.blocks.size(); ++place) {
        for (const std::int64_t charge : blocks_[lane.blocks[place]].charges) {
            if (sum >= usage) {
                out.left = true;
                out.at = sum == usage;
                out.free_pick = out.at && charge == 0;
                return out;
            }
            out.before = sum;
            sum += charge;
        }
    }
    return out;
}

void PendingJobs::find_due(Instant now, std::vector<JobSlot>& out) {
    const std::int64_t seconds = now.time_since_epoch().count();
    if (soonest_ > seconds) return;
    soonest_ = INT64_MAX;
    for (const LaneId id : lanes_of(JobClass::normal)) {
        const Lane& lane = lanes_[id];
        for (std::size_t i = 0; i < lane.blocks.size(); ++i) {
            if (lane.sums[i].soonest > seconds) {
                soonest_ = std::min(soonest_, lane.sums[i].soonest);
                continue;
            }
            const Block& b = blocks_[lane.blocks[i]];
            for (std::size_t j = 0; j < b.jobs.size(); ++j)
                if (b.overdue_from[j] <= seconds)
                    out.push_back(b.jobs[j]);
                else
                    soonest_ = std::min(soonest_, b.overdue_from[j]);
        }
    }
}

namespace {

// Finds the users whom the permutation by past usage picks at one usage, from the few picks before. Users are
// in the order of the circle.
class Picks {
  public:
    Picks(const PendingJobs& pending, std::vector<UsageLane> lanes)
        : pending_(pending), lanes_(std::move(lanes)) {}

    // Returns the positions of the users who are picked at this usage, in order; empty if that would take too
    // many steps back.
    std::vector<std::size_t> at(std::int64_t usage, int depth) const {
        std::vector<bool> tied(lanes_.size(), false);
        std::vector<bool> left(lanes_.size(), false);
        std::size_t count = 0;
        std::optional<std::int64_t> before;
        std::size_t last = 0;  // the position of the user of the last pick below `usage`
        bool last_alone = true;
        for (std::size_t i = 0; i < lanes_.size(); ++i) {
            const auto reached = pending_.reached(lanes_[i].lane, lanes_[i].usage, usage);
            if (reached.free_pick) return {};
            tied[i] = reached.at;
            left[i] = reached.left;
            count += reached.at ? 1 : 0;
            if (!reached.before || (before && *reached.before < *before)) continue;
            last_alone = !before || *reached.before > *before;
            before = reached.before;
            last = i;
        }
        std::size_t position = 0;
        if (before) {
            if (!last_alone) {
                if (depth == 0) return {};
                const auto picks = at(*before, depth - 1);
                if (picks.empty()) return {};
                last = picks.back();
            }
            position = after(last, left);
        }
        std::vector<std::size_t> order;
        while (order.size() < count) {
            if (!tied[position])
                position = static_cast<std::size_t>(std::ranges::find(tied, true) - tied.begin());
            order.push_back(position);
            tied[position] = false;
            // A user whose last job this was needn't be marked, because the circle doesn't return to that
            // user.
            position = after(position, left);
        }
        return order;
    }
    LaneId lane(std::size_t position) const { return lanes_[position].lane; }

  private:
    // Returns the next position of a user with jobs left, in a circle.
    static std::size_t after(std::size_t position, const std::vector<bool>& left) {
        for (std::size_t i = 1; i <= left.size(); ++i)
            if (left[(position + i) % left.size()]) return (position + i) % left.size();
        return position;
    }
    const PendingJobs& pending_;
    std::vector<UsageLane> lanes_;
};

}  // namespace

std::vector<LaneId> picks_at(const PendingJobs& waiting, std::vector<UsageLane> lanes, std::int64_t usage) {
    constexpr int kMostStepsBack = 8;
    const Picks picks(waiting, std::move(lanes));
    std::vector<LaneId> order;
    for (const std::size_t position : picks.at(usage, kMostStepsBack)) order.push_back(picks.lane(position));
    return order;
}

}  // namespace pbs::sched

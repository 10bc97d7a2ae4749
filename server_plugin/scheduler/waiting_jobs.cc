#include "server_plugin/scheduler/waiting_jobs.h"

#include <bit>
#include <numeric>

namespace pbs::sched {

bool SizeLimit::covers(const SizeLimit& other) const {
    return small_nodes == other.small_nodes && small_walltime >= other.small_walltime &&
           most.nodes >= other.most.nodes && most.walltime >= other.most.walltime &&
           most.ncpus >= other.most.ncpus && most.mem >= other.most.mem;
}

SizeLimit SizeLimit::around(std::span<const SizeLimit> limits) {
    SizeLimit out{{-1, -1, -1, -1}, 0, -1};
    for (const SizeLimit& limit : limits) {
        out.most.nodes = std::max(out.most.nodes, limit.most.nodes);
        out.most.walltime = std::max(out.most.walltime, limit.most.walltime);
        out.most.ncpus = std::max(out.most.ncpus, limit.most.ncpus);
        out.most.mem = std::max(out.most.mem, limit.most.mem);
        out.small_nodes = limit.small_nodes;  // the policy's: the same for all
        out.small_walltime = std::max(out.small_walltime, limit.small_walltime);
    }
    return out;
}

namespace {

constexpr std::uint32_t few_jobs = 64;

JobSize least_of(const JobSize& a, const JobSize& b) {
    return {std::min(a.nodes, b.nodes), std::min(a.walltime, b.walltime), std::min(a.ncpus, b.ncpus),
            std::min(a.mem, b.mem)};
}

// Up to 1, 2, 4, 8, 16, any number.
std::size_t cpu_class(std::int32_t ncpus) {
    return std::min<std::size_t>(5, std::bit_width(static_cast<std::uint32_t>(std::max(1, ncpus)) - 1));
}

}  // namespace

void WaitingJobs::clear() {
    *this = {};
}

LaneId WaitingJobs::lane(JobClass job_class, std::uint32_t of) {
    const auto key = static_cast<std::uint64_t>(job_class) << 32 | of;
    const auto [place, made] = lane_ids_.try_emplace(key, static_cast<LaneId>(lanes_.size()));
    if (made) lanes_.push_back({job_class, of, 0, 0, {}, {}, {}});
    return place->second;
}

void WaitingJobs::list_lane(LaneId id) {
    ClassLanes& all = of_class(lanes_[id].job_class);
    lanes_[id].place = static_cast<std::uint32_t>(all.lanes.size());
    all.lanes.push_back(id);
    all.least.push_back(nothing);
}

// The last one comes to its place.
void WaitingJobs::take_off_lane(LaneId id) {
    ClassLanes& all = of_class(lanes_[id].job_class);
    const std::uint32_t place = lanes_[id].place;
    lanes_[all.lanes.back()].place = place;
    all.lanes[place] = all.lanes.back();
    all.least[place] = all.least.back();
    all.lanes.pop_back();
    all.least.pop_back();
}

WaitingJobs::LaneLeast WaitingJobs::least_of_lane(LaneId id) const {
    LaneLeast least = nothing;
    for (const std::uint32_t number : lanes_[id].blocks) {
        const Block& b = blocks_[number];
        for (const JobSize& size : b.sizes) least.add(size);
    }
    return least;
}

void WaitingJobs::LaneLeast::add(const JobSize& size) {
    for (std::size_t i = cpu_class(size.ncpus); i < walltime.size(); ++i)
        walltime[i] = std::min(walltime[i], size.walltime);
    nodes = std::min(nodes, size.nodes);
    mem = std::min(mem, size.mem);
}

WaitingJobs::LaneLimit::LaneLimit(const SizeLimit& limit)
    : cpu_class(sched::cpu_class(limit.most.ncpus)),
      walltime(std::max(limit.most.walltime, limit.small_walltime)),
      nodes(limit.most.nodes),
      mem(limit.most.mem) {}

// The lane at a place of its class, whose least is within the limit as far as it is up to date.
bool WaitingJobs::may_hold(ClassLanes& all, std::size_t place, const LaneLimit& of_lane,
                           const SizeLimit& limit, std::span<const std::uint32_t> no_room) {
    LaneLeast& least = all.least[place];
    const LaneId lane = all.lanes[place];
    if (least.outdated) {
        least = least_of_lane(lane);
        if (!least.may_hold(of_lane)) return false;
    }
    // The jobs themselves, unless they are too many to be looked at for this.
    Position at;
    return lanes_[lane].jobs > few_jobs || find(lane, limit, at, no_room);
}

void WaitingJobs::find_lanes(JobClass job_class, const SizeLimit& limit,
                             std::span<const std::uint32_t> no_room, std::vector<LaneId>& out) {
    if (limit.most.ncpus < 0) return;
    ClassLanes& all = of_class(job_class);
    const LaneLimit of_lane(limit);
    for (std::size_t i = 0; i < all.lanes.size(); ++i)
        if (all.least[i].may_hold(of_lane) && may_hold(all, i, of_lane, limit, no_room))
            out.push_back(all.lanes[i]);
}

bool WaitingJobs::has_lane(JobClass job_class, const SizeLimit& limit) {
    if (limit.most.ncpus < 0) return false;
    ClassLanes& all = of_class(job_class);
    const LaneLimit of_lane(limit);
    for (std::size_t i = 0; i < all.lanes.size(); ++i)
        if (all.least[i].may_hold(of_lane) && may_hold(all, i, of_lane, limit, {})) return true;
    return false;
}

std::uint32_t WaitingJobs::new_block(LaneId id, std::size_t place) {
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
    lane.least.insert(lane.least.begin() + at, JobSize{});
    lane.soonest.insert(lane.soonest.begin() + at, INT64_MAX);
    return number;
}

void WaitingJobs::drop_block(LaneId id, std::size_t place) {
    Lane& lane = lanes_[id];
    const auto at = static_cast<std::ptrdiff_t>(place);
    // Most lanes have a job at times: the memory for a few stays.
    Block& b = blocks_[lane.blocks[place]];
    if (b.jobs.capacity() > few_jobs) b = {};
    b.charge = 0;
    Block::each_column(b, b, [](auto& column, auto&) { column.clear(); });
    unused_.push_back(lane.blocks[place]);
    lane.blocks.erase(lane.blocks.begin() + at);
    lane.least.erase(lane.least.begin() + at);
    lane.soonest.erase(lane.soonest.begin() + at);
}

// A block's minima and its charge, after a change of it.
void WaitingJobs::sum_up(LaneId id, std::size_t place) {
    Lane& lane = lanes_[id];
    Block& b = blocks_[lane.blocks[place]];
    lane.least[place] = std::accumulate(b.sizes.begin() + 1, b.sizes.end(), b.sizes.front(), least_of);
    lane.soonest[place] = *std::ranges::min_element(b.waits_from);
    b.charge = std::accumulate(b.charges.begin(), b.charges.end(), std::int64_t{0});
}

void WaitingJobs::split(LaneId id, std::size_t place) {
    const std::uint32_t upper = new_block(id, place + 1);
    const std::uint32_t lower = lanes_[id].blocks[place];
    Block::each_column(blocks_[lower], blocks_[upper], [](auto& from, auto& to) {
        const auto half = from.begin() + most_in_block / 2;
        to.assign(half, from.end());
        from.erase(half, from.end());
    });
    for (const JobSlot job : blocks_[upper].jobs) block_of_[job] = upper;
    sum_up(id, place);
    sum_up(id, place + 1);
}

void WaitingJobs::insert(LaneId id, const Entry& e) {
    if (block_of_.size() <= e.job) block_of_.resize(e.job + 1, none);
    most_nodes_ = std::max(most_nodes_, e.size.nodes);
    Lane& lane = lanes_[id];
    if (lane.blocks.empty()) new_block(id, 0);
    // The last block that begins before it.
    const auto after = std::ranges::upper_bound(
        lane.blocks.begin() + 1, lane.blocks.end(), e.key, {},
        [&](std::uint32_t b) -> const WaitingKey& { return blocks_[b].keys.front(); });
    std::size_t place = static_cast<std::size_t>(after - lane.blocks.begin()) - 1;
    if (blocks_[lane.blocks[place]].jobs.size() == most_in_block) {
        const bool behind = blocks_[lane.blocks[place]].keys.back() < e.key;
        if (behind && place + 1 == lane.blocks.size()) {
            new_block(id, ++place);  // in order: blocks stay full
        } else {
            split(id, place);
            if (blocks_[lane.blocks[place + 1]].keys.front() < e.key) ++place;
        }
    }
    const std::uint32_t number = lane.blocks[place];
    Block& b = blocks_[number];
    const auto at = std::ranges::lower_bound(b.keys, e.key) - b.keys.begin();
    const auto put = [&](auto& column, const auto& value) { column.insert(column.begin() + at, value); };
    const bool first = b.jobs.empty();
    put(b.keys, e.key);
    put(b.jobs, e.job);
    put(b.sizes, e.size);
    put(b.requests, e.request);
    put(b.charges, e.charge);
    put(b.waits_from, e.waits_from);
    b.charge += e.charge;
    JobSize& least = lane.least[place];
    least = first ? e.size : least_of(least, e.size);
    lane.soonest[place] = std::min(lane.soonest[place], e.waits_from);
    if (lane.job_class == JobClass::normal) soonest_ = std::min(soonest_, e.waits_from);
    if (lane.jobs == 0) list_lane(id);
    of_class(lane.job_class).least[lane.place].add(e.size);
    block_of_[e.job] = number;
    if (e.mixed) {
        place_of_mixed_[e.job] = mixed_.size();
        mixed_.push_back(e.job);
    }
    ++lane.jobs;
    ++size_;
}

std::size_t WaitingJobs::place_of(std::uint32_t number) const {
    const auto& blocks = lanes_[blocks_[number].lane].blocks;
    return static_cast<std::size_t>(std::ranges::find(blocks, number) - blocks.begin());
}

// The last one comes to its place.
void WaitingJobs::no_longer_mixed(JobSlot job) {
    const auto found = place_of_mixed_.find(job);
    if (found == place_of_mixed_.end()) return;
    place_of_mixed_[mixed_.back()] = found->second;
    mixed_[found->second] = mixed_.back();
    mixed_.pop_back();
    place_of_mixed_.erase(job);
}

void WaitingJobs::remove(JobSlot job) {
    if (!contains(job)) return;
    const std::uint32_t number = block_of_[job];
    const LaneId id = blocks_[number].lane;
    const std::size_t place = place_of(number);
    Block& b = blocks_[number];
    const auto at = std::ranges::find(b.jobs, job) - b.jobs.begin();
    const JobSize size = b.sizes[static_cast<std::size_t>(at)];
    Block::each_column(b, b, [&](auto& column, auto&) { column.erase(column.begin() + at); });
    block_of_[job] = none;
    if (!mixed_.empty()) no_longer_mixed(job);
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

bool WaitingJobs::settle(LaneId id, Position& at) const {
    const Lane& lane = lanes_[id];
    if (at.block < lane.blocks.size() && at.index >= block(id, at).jobs.size()) at = {at.block + 1, 0};
    return at.block < lane.blocks.size();
}

bool WaitingJobs::find(LaneId id, const SizeLimit& limit, Position& at,
                       std::span<const std::uint32_t> no_room) const {
    const Lane& lane = lanes_[id];
    const auto has_none = [&](std::uint32_t request) {
        return request != 0 && std::ranges::find(no_room, request) != no_room.end();
    };
    const std::int32_t longest = std::max(limit.most.walltime, limit.small_walltime);
    for (; at.block < lane.blocks.size(); at = {at.block + 1, 0}) {
        const JobSize& least = lane.least[at.block];
        if (least.nodes > limit.most.nodes || least.walltime > longest || least.ncpus > limit.most.ncpus ||
            least.mem > limit.most.mem)
            continue;
        const Block& b = block(id, at);
        for (const auto count = static_cast<std::uint32_t>(b.sizes.size()); at.index < count; ++at.index)
            if (limit.holds(b.sizes[at.index]) && !has_none(b.requests[at.index])) return true;
    }
    return false;
}

WaitingJobs::Position WaitingJobs::position_of(JobSlot job) const {
    const std::uint32_t number = block_of_[job];
    const Block& b = blocks_[number];
    return {static_cast<std::uint32_t>(place_of(number)),
            static_cast<std::uint32_t>(std::ranges::find(b.jobs, job) - b.jobs.begin())};
}

std::int64_t WaitingJobs::charge_before(LaneId id, Position at) const {
    std::int64_t sum = 0;
    const Lane& lane = lanes_[id];
    for (std::size_t i = 0; i < at.block; ++i) sum += blocks_[lane.blocks[i]].charge;
    const auto& charges = block(id, at).charges;
    return std::accumulate(charges.begin(), charges.begin() + at.index, sum);
}

WaitingJobs::Reached WaitingJobs::reached(LaneId id, std::int64_t base, std::int64_t usage) const {
    const Lane& lane = lanes_[id];
    Reached out;
    std::int64_t sum = base;
    std::size_t place = 0;
    // A block that ends below is passed over; its last pick is what its end less the last charge is.
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

void WaitingJobs::find_due(Instant now, std::vector<JobSlot>& out) {
    const std::int64_t seconds = now.time_since_epoch().count();
    if (soonest_ > seconds) return;
    soonest_ = INT64_MAX;
    for (const LaneId id : lanes_of(JobClass::normal)) {
        const Lane& lane = lanes_[id];
        for (std::size_t i = 0; i < lane.blocks.size(); ++i) {
            soonest_ = std::min(soonest_, lane.soonest[i]);
            if (lane.soonest[i] > seconds) continue;
            const Block& b = blocks_[lane.blocks[i]];
            for (std::size_t j = 0; j < b.jobs.size(); ++j)
                if (b.waits_from[j] <= seconds) out.push_back(b.jobs[j]);
        }
    }
}

namespace {

// The permutation near one usage: users in the order in which they are gone round.
class Picks {
  public:
    Picks(const WaitingJobs& waiting, std::vector<UsageLane> lanes)
        : waiting_(waiting), lanes_(std::move(lanes)) {
        std::ranges::sort(lanes_, [](const UsageLane& a, const UsageLane& b) {
            return a.jobs != b.jobs ? a.jobs < b.jobs : a.first < b.first;
        });
    }

    // The positions of those who are picked at this usage, in order; empty: not found out.
    std::vector<std::size_t> at(std::int64_t usage, int depth) const {
        std::vector<bool> tied(lanes_.size(), false);
        std::vector<bool> left(lanes_.size(), false);
        std::size_t count = 0;
        std::optional<std::int64_t> before;
        std::size_t last = 0;  // the position of the last pick below
        bool last_alone = true;
        for (std::size_t i = 0; i < lanes_.size(); ++i) {
            const auto reached = waiting_.reached(lanes_[i].lane, lanes_[i].usage, usage);
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
            // One whose last job this was has none left then; it isn't come by again in any case.
            position = after(position, left);
        }
        return order;
    }
    LaneId lane(std::size_t position) const { return lanes_[position].lane; }

  private:
    // The next position, around at the end, of a user with jobs left.
    static std::size_t after(std::size_t position, const std::vector<bool>& left) {
        for (std::size_t i = 1; i <= left.size(); ++i)
            if (left[(position + i) % left.size()]) return (position + i) % left.size();
        return position;
    }
    const WaitingJobs& waiting_;
    std::vector<UsageLane> lanes_;
};

}  // namespace

std::vector<LaneId> picks_at(const WaitingJobs& waiting, std::vector<UsageLane> lanes, std::int64_t usage) {
    constexpr int most_steps_back = 8;
    const Picks picks(waiting, std::move(lanes));
    std::vector<LaneId> order;
    for (const std::size_t position : picks.at(usage, most_steps_back)) order.push_back(picks.lane(position));
    return order;
}

}  // namespace pbs::sched

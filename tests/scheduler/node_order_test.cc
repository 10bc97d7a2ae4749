// Tests node_sort_key: the order in which a cycle tries vnodes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>
#include <random>
#include <set>

#include "server_plugin/scheduler/placement/vnodes.h"
#include "tests/cases.h"
#include "tests/scheduler/world.h"

namespace pbs::sched::test {
namespace {

using testing::ElementsAre;
using enum SortAmount;

struct NodeOrderCase {
    std::vector<SortKey> keys;
    std::vector<std::string> order;  // the vnodes that jobs of one CPU get, in the order of their starts
};

class NodeOrders : public testing::TestWithParam<NodeOrderCase> {};

TEST_P(NodeOrders, JobsGetTheFirstVnodesThatHaveRoom) {
    World world;
    world.policy().help_starving_jobs = false;
    world.policy().node_sort_key = GetParam().keys;
    world.queue({.name = "work"});
    world.vnode({.name = "small", .ncpus = 1, .mem = 8 * kGb, .priority = 5});
    world.vnode({.name = "large", .ncpus = 3, .mem = 2 * kGb, .priority = 1});
    world.vnode({.name = "other", .ncpus = 2, .mem = 8 * kGb, .priority = 5});
    world.configure();
    std::vector<int> jobs(6);
    std::ranges::generate(jobs, [&] { return world.job({.queue = "work", .ncpus = 1}); });
    const auto outcome = world.cycle(at(1));
    std::vector<std::string> order;
    order.reserve(jobs.size());
    for (const int job : jobs) order.push_back(outcome.vnodes.at(job).front());
    EXPECT_EQ(order, GetParam().order);
}

INSTANTIATE_TEST_SUITE_P(
    Keys, NodeOrders,
    testing::Values(
        NodeOrderCase{{}, {"small", "large", "large", "large", "other", "other"}},
        NodeOrderCase{{{"sort_priority", true}}, {"small", "other", "other", "large", "large", "large"}},
        NodeOrderCase{{{"sort_priority", false}}, {"large", "large", "large", "small", "other", "other"}},
        NodeOrderCase{{{"ncpus", true}}, {"large", "large", "large", "other", "other", "small"}},
        NodeOrderCase{{{"ncpus", false}}, {"small", "other", "other", "large", "large", "large"}},
        NodeOrderCase{{{"mem", true}, {"ncpus", true}},
                      {"other", "other", "small", "large", "large", "large"}},
        NodeOrderCase{{{"ncpus", true, unused}}, {"large", "large", "other", "small", "large", "other"}},
        NodeOrderCase{{{"ncpus", false, unused}}, {"small", "other", "other", "large", "large", "large"}},
        NodeOrderCase{{{"ncpus", true, assigned}}, {"small", "large", "large", "large", "other", "other"}},
        NodeOrderCase{{{"ncpus", false, assigned}}, {"small", "large", "other", "large", "other", "large"}},
        NodeOrderCase{{{"sort_priority", true}, {"ncpus", true, unused}},
                      {"other", "small", "other", "large", "large", "large"}},
        // a key of an undefined resource is ignored
        NodeOrderCase{{{"color", true}, {"mem", false, unused}, {"ncpus", false}},
                      {"large", "large", "large", "small", "other", "other"}}));

// node_sort_key puts the largest vnode first; node_sort_key_of_place gives jobs with some values of place
// another order.
struct OrderOfPlaceCase {
    std::vector<KeysOfPlace> keys;
    std::string place;
    std::vector<std::string> vnodes;  // the vnodes that the two chunks of a job get
};

class OrdersOfPlaces : public testing::TestWithParam<OrderOfPlaceCase> {};

TEST_P(OrdersOfPlaces, ComeBeforeTheOrderOfAll) {
    World world;
    world.policy().node_sort_key = {{"ncpus", true}};
    world.policy().node_sort_key_of_place = GetParam().keys;
    world.queue({.name = "work"});
    world.vnode({.name = "large", .ncpus = 4, .priority = 1, .arch = "vector"});
    world.vnode({.name = "small", .ncpus = 2, .priority = 5, .arch = "vector"});
    world.vnode({.name = "other", .ncpus = 3, .priority = 5, .arch = "vector"});
    world.configure();
    const int job = world.job({.queue = "work", .select = "2:ncpus=1", .place = GetParam().place});
    EXPECT_EQ(world.cycle(at(1)).vnodes.at(job), GetParam().vnodes);
}

const std::vector<SortKey> kSmallFirst = {{"ncpus", false}};

INSTANTIATE_TEST_SUITE_P(
    Places, OrdersOfPlaces,
    testing::Values(
        OrderOfPlaceCase{{}, "scatter", {"large", "other"}},
        OrderOfPlaceCase{{{Arrangement::scatter, kSmallFirst}}, "scatter", {"small", "other"}},
        OrderOfPlaceCase{{{Arrangement::scatter, kSmallFirst}}, "scatter:excl", {"small", "other"}},
        OrderOfPlaceCase{{{Arrangement::scatter, kSmallFirst}}, "vscatter", {"large", "other"}},
        OrderOfPlaceCase{{{Arrangement::scatter, kSmallFirst}}, "", {"large", "large"}},
        OrderOfPlaceCase{{{Arrangement::vscatter, kSmallFirst}}, "vscatter", {"small", "other"}},
        OrderOfPlaceCase{{{Arrangement::pack, kSmallFirst}}, "pack", {"small", "small"}},
        OrderOfPlaceCase{{{Arrangement::free, kSmallFirst}}, "free", {"small", "small"}},
        // a job without place has place free
        OrderOfPlaceCase{{{Arrangement::free, kSmallFirst}}, "", {"small", "small"}},
        OrderOfPlaceCase{{{Arrangement::free, kSmallFirst}}, "pack", {"large", "large"}},
        OrderOfPlaceCase{{{std::nullopt, kSmallFirst}}, "scatter:group=arch", {"small", "other"}},
        OrderOfPlaceCase{{{std::nullopt, kSmallFirst}}, "scatter", {"large", "other"}},
        // keys for place=group come before keys for an arrangement, wherever they stand in the list
        OrderOfPlaceCase{{{Arrangement::scatter, {{"sort_priority", false}}}, {std::nullopt, kSmallFirst}},
                         "scatter:group=arch",
                         {"small", "other"}},
        OrderOfPlaceCase{{{std::nullopt, kSmallFirst}, {Arrangement::scatter, {{"sort_priority", false}}}},
                         "scatter:group=arch",
                         {"small", "other"}},
        OrderOfPlaceCase{{{Arrangement::scatter, kSmallFirst}}, "scatter:group=arch", {"small", "other"}},
        // vnodes whose keys for this place are equal keep the order of node_sort_key
        OrderOfPlaceCase{{{Arrangement::scatter, {{"sort_priority", true}}}}, "scatter", {"other", "small"}},
        // a key of an undefined resource is ignored
        OrderOfPlaceCase{{{Arrangement::scatter, {{"color", true}}}}, "scatter", {"large", "other"}},
        OrderOfPlaceCase{{{Arrangement::free, {{"ncpus", false, unused}}}}, "", {"small", "small"}}));

TEST(OrderOfPlace, HoldsForReservationsOfTopJobs) {
    World world;
    world.policy().strict_ordering = true;
    world.policy().backfill_depth = 1;
    world.policy().node_sort_key_of_place = {{Arrangement::scatter, kSmallFirst}};
    world.queue({.name = "work"});
    world.vnode({.name = "large", .ncpus = 4});
    world.vnode({.name = "small", .ncpus = 2});
    world.configure();
    world.scheduler.set_tell_estimates(true);
    world.job({.queue = "work", .walltime = kHour, .select = "1:ncpus=4+1:ncpus=2"});
    world.cycle(at(1));
    const int scattered =
        world.job({.queue = "work", .walltime = kHour, .select = "1:ncpus=1", .place = "scatter"});
    EXPECT_THAT(world.cycle(at(1)).vnodes.at(scattered), ElementsAre("small"));
}

TEST(OrderOfPlace, HoldsForAdvanceReservations) {
    World world;
    world.policy().node_sort_key_of_place = {{Arrangement::scatter, kSmallFirst}};
    world.queue({.name = "work"});
    world.vnode({.name = "large", .ncpus = 4});
    world.vnode({.name = "small", .ncpus = 2});
    world.configure();
    const int anywhere = world.reserve({at(10), at(12), "1:ncpus=1"});
    const int scattered = world.reserve({at(10), at(12), "1:ncpus=1", "scatter"});
    const auto outcome = world.cycle(at(9));
    EXPECT_EQ(outcome.confirmed.at(anywhere), "(large:ncpus=1)");
    EXPECT_EQ(outcome.confirmed.at(scattered), "(small:ncpus=1)");
}

TEST(OrderOfPlace, RenewsAMovingOrderAfterEachStart) {
    World world;
    world.policy().node_sort_key = {{"sort_priority", true}};
    world.policy().node_sort_key_of_place = {{Arrangement::pack, {{"ncpus", true, unused}}}};
    world.queue({.name = "work"});
    world.vnode({.name = "a", .ncpus = 4});
    world.vnode({.name = "b", .ncpus = 4});
    world.configure();
    std::vector<int> jobs;
    for (const char* place : {"pack", "free", "pack", "free", "pack"})
        jobs.push_back(world.job({.queue = "work", .select = "1:ncpus=1", .place = place}));
    const auto outcome = world.cycle(at(1));
    std::vector<std::string> vnodes;
    for (const int job : jobs) vnodes.push_back(outcome.vnodes.at(job).front());
    EXPECT_THAT(vnodes, ElementsAre("a", "a", "b", "a", "b"));
}

TEST(NodeOrder, HoldsForTheNextCycleAfterAChange) {
    World world;
    world.queue({.name = "work"});
    world.vnode({.name = "small", .ncpus = 1});
    world.vnode({.name = "large", .ncpus = 3});
    world.policy().node_sort_key = {{"ncpus", true}};
    world.configure();
    const int first = world.job({.queue = "work", .ncpus = 1});
    EXPECT_THAT(world.cycle(at(1)).vnodes.at(first), ElementsAre("large"));
    world.policy().node_sort_key = {{"ncpus", false}};
    world.configure();
    const int second = world.job({.queue = "work", .ncpus = 1});
    EXPECT_THAT(world.cycle(at(2)).vnodes.at(second), ElementsAre("small"));
}

TEST(NodeOrder, HoldsAfterAVnodeHasAnotherAmount) {
    World world;
    world.queue({.name = "work"});
    world.vnode({.name = "a", .ncpus = 2});
    world.vnode({.name = "b", .ncpus = 4});
    world.policy().node_sort_key = {{"ncpus", true}};
    world.configure();
    const int first = world.job({.queue = "work", .ncpus = 1});
    EXPECT_THAT(world.cycle(at(1)).vnodes.at(first), ElementsAre("b"));
    world.vnode({.name = "a", .ncpus = 8});
    const int second = world.job({.queue = "work", .ncpus = 1});
    EXPECT_THAT(world.cycle(at(2)).vnodes.at(second), ElementsAre("a"));
}

// A case of the test below: a job whose chunks are placed on vnodes in the order of `key`. `vnodes`: the
// vnodes that the chunks must get, in the order of the chunks.
struct SpreadCase {
    SortKey key;
    bool two_on_a_host;
    JobOptions job;
    std::vector<std::string> vnodes;
};
class Spreads : public testing::TestWithParam<SpreadCase> {};

TEST_P(Spreads, OfTheChunksOfAJob) {
    World world;
    world.scheduler.set_divide_chunks(true);
    world.queue({.name = "work"});
    for (const char* name : {"a", "b", "c"}) world.vnode({.name = name, .ncpus = 4});
    if (GetParam().two_on_a_host) world.vnode({.name = "d", .ncpus = 4, .host = "c"});
    world.policy().node_sort_key = {GetParam().key};
    world.configure();
    auto options = GetParam().job;
    options.queue = "work";
    const int job = world.job(options);
    EXPECT_EQ(world.cycle(at(1)).vnodes.at(job), GetParam().vnodes);
}

INSTANTIATE_TEST_SUITE_P(
    Keys, Spreads,
    testing::Values(
        SpreadCase{{"ncpus", true, unused}, false, {.select = "4:ncpus=1"}, {"a", "b", "c", "a"}},
        SpreadCase{{"ncpus", false, assigned}, false, {.select = "4:ncpus=1"}, {"a", "b", "c", "a"}},
        SpreadCase{{"ncpus", false, unused}, false, {.select = "4:ncpus=1"}, {"a", "a", "a", "a"}},
        SpreadCase{{"mem", true, unused}, false, {.select = "4:ncpus=1"}, {"a", "a", "a", "a"}},
        SpreadCase{{"ncpus", true, unused}, false, {.select = "1:ncpus=2+2:ncpus=1"}, {"a", "b", "c"}},
        SpreadCase{
            {"ncpus", true, unused}, false, {.select = "4:ncpus=1", .place = "pack"}, {"a", "a", "a", "a"}},
        // if hosts have several vnodes, hosts are filled one after the other
        SpreadCase{{"ncpus", true, unused}, true, {.select = "4:ncpus=1"}, {"a", "a", "a", "a"}},
        SpreadCase{{"ncpus", false, unused}, true, {.select = "4:ncpus=1"}, {"a", "a", "a", "a"}},
        SpreadCase{{"ncpus", true, unused},
                   true,
                   {.select = "6:ncpus=1", .place = "pack"},
                   {"c", "d", "c", "d", "c", "d"}}));

// ---- The order of vnodes on random sites.

// A site whose vnodes have random attributes, sort keys and running jobs.
struct RandomVnodes {
    static constexpr std::uint32_t kNcpus = 0, kMem = 1;
    struct Running {
        std::uint32_t request;
        Placement placement;
        std::vector<std::pair<VnodeHandle, std::vector<Amount>>> places;
    };
    std::mt19937 random;
    Interner strings;
    Resources resources;
    Requests requests;
    Vnodes vnodes{strings};
    std::vector<VnodeRecord> records;
    std::vector<std::vector<Amount>> available;
    NodeKeys keys;
    Chunks chunks;
    std::map<JobSlot, Running> running;

    int pick(int from, int to) { return std::uniform_int_distribution(from, to)(random); }
    bool chance(int percent) { return pick(1, 100) <= percent; }

    RandomVnodes(unsigned seed, bool shared_hosts) : random(seed) {
        resources.define({kNcpus, ResourceKind::integer, "ncpus", true});
        resources.define({kMem, ResourceKind::integer, "mem", true});
        resources.define({2, ResourceKind::string, "select", false});
        resources.define({3, ResourceKind::string, "place", false});
        chunks = chance(70) ? Chunks::divided : Chunks::whole;
        const int count = chance(20) ? pick(100, 300) : pick(2, 12);
        available.resize(static_cast<std::size_t>(count));
        static const std::vector<std::string> kHosts = {"h0", "h1", "h2", "h3", "h4"};
        static std::vector<std::string> names;
        while (names.size() < available.size()) names.push_back("v" + std::to_string(names.size()));
        for (std::size_t i = 0; i < available.size(); ++i) {
            available[i] = {{kNcpus, pick(1, 8), {}}, {kMem, pick(1, 16), {}}};
            VnodeRecord record;
            record.vnode = VnodeHandle(i + 1);
            record.name = names[i];
            record.host =
                shared_hosts && chance(70) ? std::string_view(kHosts[i % kHosts.size()]) : record.name;
            record.priority = pick(0, 2);
            record.resources_available = available[i];
            records.push_back(record);
            vnodes.change(record, resources);
        }
        const int how_many = pick(1, 3);
        for (int i = 0; i < how_many; ++i) {
            static constexpr std::uint32_t kAbout[] = {kNcpus, kMem, kNoResource};
            keys.push_back({kAbout[pick(0, 2)], chance(50),
                            chance(20)   ? total
                            : chance(50) ? assigned
                                         : unused});
        }
    }
    std::uint32_t request() {
        std::string select;
        const int kinds = chance(70) ? 1 : 2;
        for (int i = 0; i < kinds; ++i)
            select += (i == 0 ? "" : "+") + std::to_string(pick(1, 4)) +
                      ":ncpus=" + std::to_string(pick(0, 3)) +
                      (chance(50) ? ":mem=" + std::to_string(pick(1, 4)) : "");
        static constexpr const char* kPlaces[] = {"free", "free", "free", "scatter", "vscatter", "pack"};
        const Amount asked[] = {{2, 0, select}, {3, 0, kPlaces[pick(0, 5)]}};
        return requests.acquire(asked, resources);
    }
    PoolId pool(Vnodes& of) const { return of.pool({}, 0, 0, chunks, keys); }
    // Allocates the amounts of a started job, as when the host reports it.
    void begin(JobSlot job, Running made) {
        for (const Part& part : made.placement) {
            for (std::int64_t i = 0; i < part.count; ++i) {
                auto& place = made.places.emplace_back(vnodes[part.vnode].handle, std::vector<Amount>());
                for (const Need& need : made.placement.amounts_of(part, requests[made.request]))
                    place.second.push_back({need.resource, need.amount, {}});
            }
        }
        const auto& kept = running.emplace(job, std::move(made)).first->second;
        allocate(vnodes, job, kept);
    }
    static void allocate(Vnodes& of, JobSlot job, const Running& held) {
        std::vector<Place> places;
        for (const auto& [vnode, amounts] : held.places) places.push_back({vnode, amounts});
        of.allocate(job, places, Request{});
    }
    // Returns a copy of the vnodes for which no order has been computed yet.
    Vnodes anew() {
        Vnodes copy(strings);
        for (const VnodeRecord& record : records) copy.change(record, resources);
        for (const auto& [job, held] : running) allocate(copy, job, held);
        return copy;
    }
};

using Parts = std::vector<std::pair<VnodeSlot, std::vector<std::int64_t>>>;
// Returns the vnode of each chunk of a placement, with the amounts that the vnode gives.
Parts parts_of(const Placement& placement, const Request& request) {
    Parts parts;
    for (const Part& part : placement) {
        std::vector<std::int64_t> amounts;
        for (const Need& need : placement.amounts_of(part, request)) amounts.push_back(need.amount);
        for (std::int64_t i = 0; i < part.count; ++i) parts.emplace_back(part.vnode, amounts);
    }
    return parts;
}

// The scheduler finds the same places as if it sorted all vnodes anew: after starts and ends, whether a cycle
// made them or the host reported them, and in a look ahead.
TEST(NodeOrder, IsThatOfSortingAnew) {
    for (int seed = 1; seed <= pbs::test::cases(60); ++seed) {
        SCOPED_TRACE(seed);
        RandomVnodes site(static_cast<unsigned>(seed), seed % 2 == 0);
        JobSlot next = 0;
        for (int step = 0; step < 60; ++step) {
            SCOPED_TRACE(step);
            const std::uint32_t number = site.request();
            const Request& request = site.requests[number];
            Vnodes::Shares shares;
            std::vector<JobSlot> ahead;
            if (site.chance(30))
                for (const auto& [job, held] : site.running)
                    if (site.chance(40)) ahead.push_back(job);
            auto anew = site.anew();
            for (const JobSlot job : ahead) {
                site.vnodes.shares_held(job, shares);
                anew.release(job);
            }
            if (!ahead.empty()) {
                site.vnodes.look_ahead(shares, 1);
                site.vnodes.settle(site.pool(site.vnodes));
            }
            Placement found;
            Placement expected;
            const bool fits = site.vnodes.find(site.pool(site.vnodes), request, {}, found);
            ASSERT_EQ(fits, anew.find(site.pool(anew), request, {}, expected));
            ASSERT_EQ(parts_of(found, request), parts_of(expected, request));
            if (!ahead.empty()) {
                site.vnodes.look_ahead(shares, -1);
                site.vnodes.settle(site.pool(site.vnodes));
                continue;
            }
            if (fits && site.chance(80)) {
                if (site.chance(50)) {
                    site.vnodes.assume(found, request, {});
                    if (site.chance(50)) (void)site.vnodes.has_place(site.pool(site.vnodes), request, {});
                    site.vnodes.forget(found, request, {});
                }
                site.begin(next++, {number, std::move(found), {}});
            }
            while (!site.running.empty() && site.chance(fits ? 30 : 70)) {
                const auto ends =
                    std::next(site.running.begin(), site.pick(0, static_cast<int>(site.running.size()) - 1));
                site.vnodes.release(ends->first);
                site.running.erase(ends);
            }
        }
    }
}

// The same at a later instant, at which some jobs will have ended: the amounts of that instant are kept while
// jobs start and end, and while other jobs will have ended by then.
TEST(NodeOrder, AtALaterInstantIsThatOfSortingAnew) {
    for (int seed = 1; seed <= pbs::test::cases(60); ++seed) {
        SCOPED_TRACE(seed);
        RandomVnodes site(static_cast<unsigned>(seed), seed % 2 == 0);
        Vnodes& vnodes = site.vnodes;
        const PoolId pool = site.pool(vnodes);
        const std::uint64_t number = vnodes.begin_ahead();
        std::set<JobSlot> gone;
        const auto shares_of = [&](JobSlot job) {
            Vnodes::Shares shares;
            vnodes.shares_held(job, shares);
            return shares;
        };
        const auto expect_same = [&](Vnodes& anew, const Request& request) {
            Placement found;
            Placement expected;
            EXPECT_EQ(vnodes.find(pool, request, {}, found),
                      anew.find(site.pool(anew), request, {}, expected));
            EXPECT_EQ(parts_of(found, request), parts_of(expected, request));
            return found;
        };
        JobSlot next = 0;
        for (int step = 0; step < 60 && !HasFailure(); ++step) {
            SCOPED_TRACE(step);
            ASSERT_TRUE(vnodes.has_ahead(number));
            for (const auto& [job, held] : site.running) {
                if (!site.chance(20)) continue;
                const bool is_gone = gone.erase(job) == 0;
                if (is_gone) gone.insert(job);
                vnodes.change_ahead(shares_of(job), is_gone ? 1 : -1);
            }
            const std::uint32_t asked = site.request();
            const Request& request = site.requests[asked];
            auto later = site.anew();
            for (const JobSlot job : gone) later.release(job);
            vnodes.enter_ahead(pool);
            vnodes.settle(pool);
            (void)expect_same(later, request);
            for (const auto& [job, held] : site.running) {
                if (gone.contains(job) || !site.chance(10)) continue;
                later.release(job);
                vnodes.look_ahead(shares_of(job), 1);
                vnodes.settle(pool);
                (void)expect_same(later, request);
                vnodes.look_ahead(shares_of(job), -1);
                break;
            }
            vnodes.leave_ahead();
            auto now = site.anew();
            Placement found = expect_same(now, request);
            if (!found.empty() && site.chance(80)) site.begin(next++, {asked, std::move(found), {}});
            while (!site.running.empty() && site.chance(40)) {
                const auto ends =
                    std::next(site.running.begin(), site.pick(0, static_cast<int>(site.running.size()) - 1));
                if (gone.erase(ends->first) > 0) vnodes.change_ahead(shares_of(ends->first), -1);
                vnodes.release(ends->first);
                site.running.erase(ends);
            }
        }
    }
}

// No host has several vnodes here. Each chunk gets the first vnode with room, in the order that sorting all
// vnodes for this chunk gives.
TEST(NodeOrder, IsThatOfTheKeys) {
    int found_any = 0;
    for (int seed = 1; seed <= pbs::test::cases(300); ++seed) {
        SCOPED_TRACE(seed);
        RandomVnodes site(static_cast<unsigned>(seed), false);
        for (JobSlot job = 0; job < 30; ++job) {
            SCOPED_TRACE(job);
            const std::uint32_t number = site.request();
            const Request& request = site.requests[number];
            if (request.arrangement != Arrangement::free) continue;
            struct State {
                VnodeSlot slot;
                std::array<std::int64_t, 2> total, free;
            };
            std::vector<State> all;
            for (VnodeSlot v = 0; v < site.vnodes.size(); ++v)
                all.push_back({v,
                               {site.available[v][0].number, site.available[v][1].number},
                               {site.vnodes.free_amount(v, 0), site.vnodes.free_amount(v, 1)}});
            const auto value = [&](const State& vnode, const NodeKey& key) -> std::int64_t {
                if (key.resource == kNoResource) return site.records[vnode.slot].priority;
                if (key.amount == total) return vnode.total[key.resource];
                if (key.amount == unused) return vnode.free[key.resource];
                return vnode.total[key.resource] - vnode.free[key.resource];
            };
            const auto first = [&](const State& a, const State& b) {
                for (const NodeKey& key : site.keys) {
                    const auto x = value(a, key);
                    const auto y = value(b, key);
                    if (x != y) return key.high_first ? x > y : x < y;
                }
                return a.slot < b.slot;
            };
            std::vector<VnodeSlot> expected;
            bool fits = true;
            for (const Chunk& chunk : request.chunks) {
                for (std::int64_t i = 0; fits && i < chunk.count; ++i) {
                    std::ranges::sort(all, first);
                    const auto place = std::ranges::find_if(all, [&](const State& vnode) {
                        // a vnode whose CPUs are all in use takes no more jobs
                        const bool busy = site.vnodes.jobs(vnode.slot) > 0 &&
                                          site.vnodes.free_amount(vnode.slot, RandomVnodes::kNcpus) == 0;
                        return !busy && std::ranges::all_of(chunk.needs, [&](const Need& need) {
                            return vnode.free[need.resource] >= need.amount;
                        });
                    });
                    fits = place != all.end();
                    if (!fits) break;
                    expected.push_back(place->slot);
                    for (const Need& need : chunk.needs) place->free[need.resource] -= need.amount;
                }
            }
            if (!fits) expected.clear();
            Placement found;
            ASSERT_EQ(site.vnodes.find(site.pool(site.vnodes), request, {}, found), fits);
            std::vector<VnodeSlot> slots;
            for (const auto& part : parts_of(found, request)) slots.push_back(part.first);
            ASSERT_EQ(slots, expected);
            if (fits) {
                ++found_any;
                site.begin(job, {number, std::move(found), {}});
            }
        }
    }
    EXPECT_GT(found_any, 100);
}

}  // namespace
}  // namespace pbs::sched::test

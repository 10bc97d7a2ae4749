// Tests the records of vnodes and jobs that the plugin gets.
#include "server_plugin/openpbs/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "server_plugin/openpbs/site.h"
#include "server_plugin/openpbs/untold.h"

namespace pbs::openpbs {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

TEST(Vnode, HasTheEnvironmentThatItIsIn) {
    const std::vector<ifl::AttributeView> attributes{{"resources_available", "aoe", "rhel,suse"},
                                                     {"current_aoe", {}, "suse"},
                                                     {"resources_available", "eoe", "low,high"}};
    const Vnode vnode = vnode_of({3, "n1", attributes});
    EXPECT_EQ(vnode.available.at("aoe"), "suse");
    EXPECT_EQ(vnode.available.at("eoe"), "") << "no job has switched any on";
}

// Placement sets and jobs go by the value of the other vnode.
TEST(Vnodes, FollowTheNamesOfOtherVnodes) {
    Site site;
    site.resources = {{"rack", {PBS_RES_STRING, false, true}}, {"lic", {PBS_RES_LONG, true, true}}};
    site.vnodes["v0"].available = {{"rack", "r1"}, {"lic", "4"}};
    site.vnodes["v1"].available = {{"rack", "@v0"}, {"lic", "@v0"}};
    site.vnodes["v2"].available = {{"rack", "@v1"}};
    site.vnodes["v3"].available = {{"rack", "@v9"}, {"other", "@v0"}};
    site.vnodes["v4"].available = {{"rack", "@v4"}};
    follow_other_vnodes(site);
    EXPECT_THAT(site.vnodes["v0"].available, ElementsAre(Pair("lic", "4"), Pair("rack", "r1")));
    EXPECT_THAT(site.vnodes["v1"].available, ElementsAre(Pair("lic", "0"), Pair("rack", "r1")));
    EXPECT_EQ(site.shared_amounts,
              "vnode v1: resources_available.lic = @v0 counts as 0: vnodes can't share an amount that jobs "
              "consume");
    EXPECT_THAT(site.vnodes["v2"].available, ElementsAre(Pair("rack", "r1")));
    EXPECT_THAT(site.vnodes["v3"].available, ElementsAre(Pair("other", "@v0")))
        << "there is no vnode v9, and other isn't known";
    EXPECT_THAT(site.vnodes["v4"].available, ElementsAre());
    site.vnodes["v1"].available.insert_or_assign("lic", "@v0");
    site.vnodes["v2"].available.insert_or_assign("lic", "@v0");
    follow_other_vnodes(site);
    EXPECT_THAT(site.shared_amounts, ::testing::HasSubstr("v1: resources_available.lic = @v0 (and 1 more)"));
    follow_other_vnodes(site);
    EXPECT_EQ(site.shared_amounts, "") << "they are 0 now";
}

// A plugin that notes the job that was last reported to it. Amounts are listed by the names of resources.
struct Listener {
    using Amounts = std::vector<std::pair<std::string, std::int64_t>>;
    Amounts places;
    Amounts kept;
    std::map<std::string, bool> preemptable;
    std::map<std::string, char> state;
    std::map<std::uint32_t, std::string> resources;
    client::Plugin plugin;

    Listener() : plugin(table()) {}

    pbs_plugin table() {
        pbs_plugin table{};
        table.size = sizeof table;
        table.self = this;
        table.resource_defined = [](void* self, const pbs_resource_record* record) {
            static_cast<Listener*>(self)->resources[record->id] = {record->name.ptr, record->name.len};
        };
        table.server_changed = [](void*, const pbs_server_record*) {};
        table.vnode_changed = [](void*, const pbs_vnode_record*) {};
        table.job_removed = [](void*, std::int64_t, std::uint64_t) {};
        table.job_changed = [](void* self, std::int64_t, const pbs_job_record* record) {
            auto& it = *static_cast<Listener*>(self);
            it.places = it.amounts(record->places, record->place_count);
            it.kept = it.amounts(record->kept, record->kept_count);
            it.state[{record->id.ptr, record->id.len}] = static_cast<char>(record->state);
            it.preemptable[{record->id.ptr, record->id.len}] = (record->flags & PBS_JOB_NOT_PREEMPTABLE) == 0;
        };
        return table;
    }
    Amounts amounts(const pbs_place* first, std::size_t count) const {
        Amounts out;
        for (std::size_t i = 0; i < count; ++i)
            for (std::size_t j = 0; j < first[i].amount_count; ++j)
                out.emplace_back(resources.at(first[i].amounts[j].resource), first[i].amounts[j].number);
        return out;
    }
};

// With restrict_res_to_release_on_suspend=mem, a suspended job keeps its CPUs.
TEST(Records, ASuspendedJobKeepsWhatItHasNotGivenBack) {
    Listener told;
    Records records(told.plugin);
    Site site;
    site.resources["ncpus"] = {PBS_RES_LONG, true, true};
    site.resources["mem"] = {PBS_RES_SIZE, true, true};
    site.vnodes["n1"] = {};
    records.tell(Site{}, site);
    Job job;
    job.id = "1.box";
    job.state = 'S';
    job.substate = 45;
    job.exec_vnode = "(n1:ncpus=2:mem=3kb)";
    job.released = "(n1:mem=3kb)";
    records.tell(1, job);
    EXPECT_THAT(told.places, ElementsAre(Pair("mem", 3072)));
    EXPECT_THAT(told.kept, ElementsAre(Pair("ncpus", 2)));
    // A job that uses none of the resources to release is said to release 0 CPUs. So it keeps all of its
    // CPUs.
    job.exec_vnode = "(n1:ncpus=2)";
    job.released = "(n1:ncpus=0)";
    job.mtime = 2;
    records.tell(2, job);
    EXPECT_THAT(told.places, ElementsAre(Pair("ncpus", 0)));
    EXPECT_THAT(told.kept, ElementsAre(Pair("ncpus", 2)));
}

// A job that an operator has suspended holds the amounts that it hasn't given back.
TEST(Records, ASuspendedJobThatNoSchedulerResumesHoldsWhatItHasNotGivenBack) {
    Listener told;
    Records records(told.plugin);
    Site site;
    site.resources["ncpus"] = {PBS_RES_LONG, true, true};
    site.resources["mem"] = {PBS_RES_SIZE, true, true};
    site.vnodes["n1"] = {};
    records.tell(Site{}, site);
    Job job;
    job.id = "1.box";
    job.state = 'S';
    job.substate = 43;
    job.exec_vnode = "(n1:ncpus=2:mem=3kb)";
    records.tell(1, job);
    EXPECT_TRUE(told.places.empty());
    job.released = "(n1:ncpus=2)";
    job.mtime = 2;
    records.tell(2, job);
    EXPECT_THAT(told.places, ElementsAre(Pair("mem", 3072)));
}

TEST(Records, SubjobsOfAnArrayThatIsSparedAreNotPreempted) {
    Listener told;
    Records records(told.plugin);
    for (const char* id : {"1[1].box", "2[1].box", "3.box"}) {
        Job job;
        job.id = id;
        job.state = 'R';
        records.tell(1, job);
    }
    records.spare(2, "1[].box");
    EXPECT_THAT(told.preemptable,
                ElementsAre(Pair("1[1].box", false), Pair("2[1].box", true), Pair("3.box", true)));
    records.spare(3, {});
    EXPECT_TRUE(told.preemptable.at("1[1].box"));
}

TEST(Records, CountsTheJobsOfAQueueAsTheServerDoes) {
    Listener told;
    Records records(told.plugin);
    const auto tell = [&](const char* id, const char* queue, char state) {
        Job job;
        job.id = id;
        job.queue = queue;
        job.state = state;
        job.array = job.id.find("[]") != std::string::npos;
        records.tell(1, job);
    };
    tell("1.box", "a", 'R');
    tell("2.box", "a", 'S');
    tell("3.box", "a", 'E');
    tell("4[].box", "a", 'B');
    tell("4[1].box", "a", 'R');
    tell("5.box", "a", 'H');
    tell("6.box", "b", 'Q');
    EXPECT_EQ(records.count("a"), (JobCount{4, 2}));
    EXPECT_EQ(records.count("b"), (JobCount{0, 1}));
    EXPECT_EQ(records.count("c"), JobCount{});
    EXPECT_TRUE(records.has_arrays("a"));
    EXPECT_FALSE(records.has_arrays("b"));
    const std::set<std::string> there{"1.box", "4[1].box", "4[].box"};
    EXPECT_THAT(records.missing("a", there, {}), UnorderedElementsAre("2.box", "3.box"));
    EXPECT_THAT(records.missing("a", {}, there), ElementsAre("5.box"));
    EXPECT_THAT(records.missing("b", there, there), ElementsAre("6.box"));
    // Jobs start, move to another queue, wait again and end.
    tell("6.box", "b", 'R');
    EXPECT_EQ(records.count("b"), (JobCount{1, 0}));
    tell("1.box", "b", 'Q');
    EXPECT_EQ(records.count("a"), (JobCount{3, 2}));
    EXPECT_EQ(records.count("b"), (JobCount{1, 1}));
    tell("4[1].box", "a", 'Q');
    EXPECT_EQ(records.count("a"), (JobCount{2, 2}));
    records.forget(2, "4[].box");
    EXPECT_EQ(records.count("a"), (JobCount{2, 1}));
    EXPECT_FALSE(records.has_arrays("a"));
    tell("6.box", "b", 'F');
    records.forget(2, "1.box");
    EXPECT_THAT(records.queues_with_jobs(), ElementsAre("a"));
}

TEST(Untold, IsSentInTheOrderInWhichItCame) {
    using Kind = Decision::Kind;
    Untold untold;
    const auto put = [&](Kind kind, const char* job, const char* text) {
        Decision decision;
        decision.kind = kind;
        decision.job = job;
        decision.text = text;
        untold.put(std::move(decision));
    };
    put(Kind::comment, "3.box", "old");
    put(Kind::comment, "1.box", "first");
    put(Kind::estimate, "3.box", "");
    put(Kind::comment, "2.box", "second");
    put(Kind::comment, "3.box", "new");
    EXPECT_FALSE(untold.take(Kind::estimate, "1.box"));
    EXPECT_EQ(untold.take(Kind::comment, "1.box").value().text, "first");
    const auto oldest = untold.take().value();
    EXPECT_EQ(oldest.job, "3.box");
    EXPECT_EQ(oldest.text, "new") << "a newer comment takes the place of the older one";
    EXPECT_EQ(untold.take().value().kind, Kind::estimate);
    untold.erase(Kind::comment, "2.box");
    EXPECT_TRUE(untold.empty());
    EXPECT_FALSE(untold.take());
}

// OpenPBS's server doesn't list a subjob that has been queued again. Only the array's `queued` has its index
// then. So Records has to forget the subjob.
TEST(Records, ASubjobThatWaitsAgainRunsNoMore) {
    Listener told;
    Records records(told.plugin);
    Job array;
    array.id = "1[].box";
    array.array = true;
    array.state = 'B';
    array.queued = "3-4";
    records.tell(1, array);
    for (const char* id : {"1[1].box", "1[2].box", "12[1].box"}) {
        Job job;
        job.id = id;
        job.state = 'R';
        records.tell(1, job);
    }
    array.queued = "2-4";
    EXPECT_TRUE(records.tell(2, array));
    EXPECT_EQ(records.job("1[2].box"), nullptr);
    EXPECT_NE(records.job("1[1].box"), nullptr);
    EXPECT_NE(records.job("12[1].box"), nullptr) << "it is another's";
    array.queued = "1-4";
    records.tell(3, array);
    EXPECT_EQ(records.job("1[1].box"), nullptr);
}

TEST(Records, ASuspendedSubjobDoesNotCountAgainstTheMostOfItsArray) {
    Listener told;
    Records records(told.plugin);
    Job array;
    array.id = "1[].box";
    array.array = true;
    array.state = 'B';
    array.queued = "2-4";
    array.most_running = 1;
    records.tell(1, array);
    EXPECT_EQ(told.state.at("1[].box"), 'Q');
    Job job;
    job.id = "1[1].box";
    job.state = 'R';
    records.tell(1, job);
    EXPECT_EQ(told.state.at("1[].box"), 'B') << "no more may start";
    job.state = 'S';
    records.tell(2, job);
    EXPECT_EQ(told.state.at("1[].box"), 'Q');
    job.state = 'R';
    records.tell(3, job);
    EXPECT_EQ(told.state.at("1[].box"), 'B');
    records.forget(4, job.id);
    EXPECT_EQ(told.state.at("1[].box"), 'Q');
    array.most_running = 0;
    records.tell(5, array);
    EXPECT_EQ(told.state.at("1[].box"), 'B') << "none may start";
}

TEST(Records, AJobThatCouldNotBePreemptedMayBeOnceItIsAnother) {
    Listener told;
    Records records(told.plugin);
    Job job;
    job.id = "1.box";
    job.state = 'R';
    job.rerunnable = false;
    records.tell(1, job);
    records.not_preemptable(2, job.id);
    EXPECT_FALSE(told.preemptable.at("1.box"));
    job.used["walltime"] = "00:00:05";
    records.tell(3, job);
    EXPECT_FALSE(told.preemptable.at("1.box"));
    job.rerunnable = true;
    records.tell(4, job);
    EXPECT_TRUE(told.preemptable.at("1.box"));
}

TEST(Records, AJobThatWasBeingStartedMayBePreemptedOnceItHasBegun) {
    constexpr int kBegun = 42;
    Listener told;
    Records records(told.plugin);
    Job job;
    job.id = "1.box";
    job.state = 'R';
    records.tell(1, job);
    records.not_preemptable(2, job.id);
    EXPECT_FALSE(records.tell(3, job)) << "nothing is new";
    EXPECT_FALSE(told.preemptable.at("1.box"));
    job.substate = kBegun;
    EXPECT_TRUE(records.tell(4, job)) << "the scheduler looks again";
    EXPECT_TRUE(told.preemptable.at("1.box"));
    records.not_preemptable(5, job.id);
    EXPECT_FALSE(records.tell(6, job));
    EXPECT_FALSE(told.preemptable.at("1.box")) << "it had begun";
}

}  // namespace
}  // namespace pbs::openpbs

// Tests the records by which the plugin is told of objects.
#include "cluster/records.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "cluster/decision.h"

namespace pbs::cluster {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// Handles for the tests: the queue "workq" has 1; the vnodes "n1" and "n2" have 11 and 12.
class Handles : public Names {
  public:
    std::optional<ResourceRef> resource(std::string_view name) const override {
        for (const ResourceRef& one : kAll)
            if (one.name == name) return one;
        return std::nullopt;
    }
    std::optional<ResourceRef> resource(std::uint32_t id) const override {
        return id < std::size(kAll) ? std::optional(kAll[id]) : std::nullopt;
    }
    std::uint64_t queue(std::string_view name) const override { return name == "workq" ? 1 : 0; }
    std::uint64_t vnode(std::string_view name) const override {
        return name == "n1" ? 11 : name == "n2" ? 12 : 0;
    }
    std::string_view vnode_name(std::uint64_t vnode) const override {
        return vnode == 11 ? "n1" : vnode == 12 ? "n2" : "";
    }

  private:
    static constexpr ResourceRef kAll[] = {
        {0, PBS_RES_LONG, "ncpus", true},         {1, PBS_RES_SIZE, "mem", true},
        {2, PBS_RES_STRING, "select", false},     {3, PBS_RES_LONG, "mpiprocs", false},
        {4, PBS_RES_DURATION, "walltime", false}, {5, PBS_RES_STRING, "host", false}};
};

class RecordsTest : public ::testing::Test {
  protected:
    const pbs_job_record& job(const std::vector<ifl::AttributeView>& attributes) {
        job_ = job_of("12.box", attributes, 100);
        return builder_.job(job_, standing_);
    }
    // Returns amounts by the names of their resources: each as its text or, if it has none, as its number.
    std::map<std::string, std::string> amounts(const pbs_amount* list, std::size_t count) const {
        std::map<std::string, std::string> out;
        for (std::size_t i = 0; i < count; ++i)
            out[std::string(names_.resource(list[i].resource)->name)] =
                list[i].text.len > 0 ? std::string(view(list[i].text)) : std::to_string(list[i].number);
        return out;
    }

    Handles names_;
    RecordBuilder builder_{names_};
    JobStanding standing_;
    Job job_;
};

// Each row has an attribute of a job, and the value that OpenPBS's scheduler reads from it. The record has to
// have the same value.
TEST_F(RecordsTest, AJobIsToldAsOpenPbsReadsIt) {
    using Attributes = std::vector<ifl::AttributeView>;
    struct Row {
        const char* name;
        Attributes attributes;
        std::function<std::int64_t(const pbs_job_record&)> told;
        std::int64_t expected;
    };
    const auto flag = [](std::uint32_t bit) {
        return [bit](const pbs_job_record& record) { return (record.flags & bit) != 0 ? 1 : 0; };
    };
    const auto walltime = [](const pbs_job_record& record) { return record.walltime; };
    const auto stime = [](const pbs_job_record& record) { return record.stime; };
    const auto preempted = [](const pbs_job_record& record) { return record.preempted_at; };
    const auto together = [](const pbs_job_record& record) { return record.together; };
    const auto array = [](Attributes more) {
        more.insert(more.end(), {{"array", {}, "True"}, {"array_indices_remaining", {}, "1-9:2,12"}});
        return more;
    };
    const Row rows[] = {
        {"interactive=False isn't interactive", {{"interactive", {}, "False"}}, flag(PBS_JOB_INTERACTIVE), 0},
        {"interactive=0 neither", {{"interactive", {}, "0"}}, flag(PBS_JOB_INTERACTIVE), 0},
        {"a port is", {{"interactive", {}, "40123"}}, flag(PBS_JOB_INTERACTIVE), 1},
        {"rerunnable unless it says no", {}, flag(PBS_JOB_RERUNNABLE), 1},
        {"no", {{"Rerunable", {}, "False"}}, flag(PBS_JOB_RERUNNABLE), 0},
        {"no walltime", {}, walltime, -1},
        {"the most that it may have",
         {{"Resource_List", "min_walltime", "60"}, {"Resource_List", "max_walltime", "600"}},
         walltime,
         600},
        {"what it was given",
         {{"job_state", {}, "R"},
          {"Resource_List", "min_walltime", "60"},
          {"Resource_List", "walltime", "120"}},
         walltime,
         120},
        {"a run that is over began at no time", {{"job_state", {}, "Q"}, {"stime", {}, "50"}}, stime, 0},
        {"this one did", {{"job_state", {}, "R"}, {"stime", {}, "50"}}, stime, 50},
        {"preempted, and hasn't run since", {{"ptime", {}, "70"}}, preempted, 70},
        {"and has", {{"job_state", {}, "R"}, {"ptime", {}, "70"}}, preempted, 0},
        {"subjobs start together", array({{"Resource_List", "start_within", "0"}}), together, 6},
        {"as many as may run", array({{"Resource_List", "start_within", "0"}, {"max_run_subjobs", {}, "4"}}),
         together, 4},
        {"or one by one", array({{"max_run_subjobs", {}, "4"}}), together, 0},
        {"one job is no array", {{"Resource_List", "start_within", "0"}}, together, 0},
    };
    for (const Row& row : rows) EXPECT_EQ(row.told(job(row.attributes)), row.expected) << row.name;
}

TEST_F(RecordsTest, AJobThatNamesNoQueueOfOriginCameFromItsOwn) {
    EXPECT_EQ(view(job({{"queue", {}, "workq"}}).origin_queue), "workq");
    EXPECT_EQ(view(job({{"queue", {}, "workq"}, {"Variable_List", {}, "PBS_O_QUEUE=route"}}).origin_queue),
              "route");
}

TEST_F(RecordsTest, AJobAsksForItsChunksWithTheirDefaults) {
    const auto& record = job({{"schedselect", {}, "1:ncpus=1"},
                              {"Resource_List", "mem", "2kb"},
                              {"Resource_List", "unknown", "3"}});
    EXPECT_THAT(amounts(record.requested, record.requested_count),
                ElementsAre(Pair("mem", "2048"), Pair("select", "1:ncpus=1")));
    EXPECT_EQ(record.used_count, 0U);
}

TEST_F(RecordsTest, PlacesAreThoseOfKnownVnodes) {
    const std::vector<Place> places =
        places_of("(n1:ncpus=2:mem=1kb+gone:ncpus=1)+(n2:ncpus=1:unknown=2:host=x)", names_);
    standing_.places = &places;
    standing_.kept = &places;
    const auto& record = job({{"job_state", {}, "R"}, {"resources_used", "walltime", "00:01:00"}});
    ASSERT_EQ(record.place_count, 2U);
    EXPECT_EQ(record.kept_count, 2U);
    EXPECT_EQ(record.places[0].vnode, 11U);
    EXPECT_THAT(amounts(record.places[0].amounts, record.places[0].amount_count),
                ElementsAre(Pair("mem", "1024"), Pair("ncpus", "2")));
    EXPECT_EQ(record.kept[1].vnode, 12U);
    EXPECT_THAT(amounts(record.kept[1].amounts, record.kept[1].amount_count),
                ElementsAre(Pair("ncpus", "1")));
    EXPECT_THAT(amounts(record.used, record.used_count), ElementsAre(Pair("walltime", "60")));
}

TEST_F(RecordsTest, LimitsAreToldInBothSpellings) {
    struct Told {
        std::int32_t entity;
        std::uint32_t resource;
        std::string name;
        std::int64_t most;
        std::uint32_t soft;
        bool operator==(const Told&) const = default;
    };
    constexpr auto kJobs = PBS_LIMIT_ON_JOBS;
    const std::tuple<ifl::AttributeView, std::vector<Told>> rows[] = {
        {{"max_run", {}, "[u:ann=3],[g:PBS_GENERIC=4],[o:PBS_ALL=9]"},
         {{PBS_ENTITY_USER, kJobs, "ann", 3, 0},
          {PBS_ENTITY_GROUP, kJobs, "", 4, 0},
          {PBS_ENTITY_ALL, kJobs, "", 9, 0}}},
        {{"max_run_res", "mem", "[p:alpha=4kb]"}, {{PBS_ENTITY_PROJECT, 1, "alpha", 4096, 0}}},
        {{"max_run_res_soft", "ncpus", "[u:ann=2]"}, {{PBS_ENTITY_USER, 0, "ann", 2, 1}}},
        {{"max_user_res", "ncpus", "8"}, {{PBS_ENTITY_USER, 0, "", 8, 0}}},
        {{"max_group_run_soft", {}, "5"}, {{PBS_ENTITY_GROUP, kJobs, "", 5, 1}}},
        // A limit on a resource that was deleted must not become a limit on jobs.
        {{"max_run_res", "unknown", "[u:ann=3]"}, {}},
        {{"max_user_res", "unknown", "8"}, {}},
        {{"max_run", {}, "what"}, {}},
    };
    for (const auto& [attribute, expected] : rows) {
        const Queue queue = queue_of(std::span(&attribute, 1));
        const pbs_queue_record& record = builder_.queue(1, "workq", queue);
        std::vector<Told> told;
        for (const pbs_entity_limit& limit : std::span(record.limits, record.limit_count))
            told.push_back(
                {limit.entity, limit.resource, std::string(view(limit.name)), limit.most, limit.soft});
        EXPECT_EQ(told, expected) << attribute.name << '.' << attribute.resource << '=' << attribute.value;
    }
}

TEST_F(RecordsTest, AQueueIsReadFromItsAttributes) {
    const std::vector<ifl::AttributeView> attributes{
        {"queue_type", {}, "Execution"}, {"started", {}, "True"},
        {"acl_user_enable", {}, "True"}, {"acl_users", {}, "ann@*, -bob , ,+"},
        {"Priority", {}, "-5"},          {"max_running", {}, "7"},
        {"resources_max", "ncpus", "4"}, {"resources_min", "mem", "1kb"}};
    const Queue queue = queue_of(attributes);
    const pbs_queue_record& record = builder_.queue(1, "workq", queue);
    EXPECT_EQ(record.flags, PBS_QUEUE_EXECUTION + 0U + PBS_QUEUE_STARTED + PBS_QUEUE_USER_ACL);
    std::vector<std::string> users;
    for (const pbs_str& user : std::span(record.acl_users, record.acl_user_count))
        users.emplace_back(view(user));
    EXPECT_THAT(users, ElementsAre("ann@*", "-bob", "+"));
    EXPECT_EQ(record.priority, -5);
    EXPECT_EQ(record.max_running, 7);
    EXPECT_EQ(record.max_user_run, -1);
    EXPECT_THAT(amounts(record.resources_max, record.resources_max_count), ElementsAre(Pair("ncpus", "4")));
    EXPECT_THAT(amounts(record.resources_min, record.resources_min_count), ElementsAre(Pair("mem", "1024")));
}

TEST_F(RecordsTest, TheDefaultSchedulersPartitionHasNoName) {
    for (const auto& [value, expected] : {std::pair("pbs-default", ""), std::pair("p1", "p1")}) {
        const ifl::AttributeView partition{"partition", {}, value};
        Sched sched;
        read_sched(sched, std::span(&partition, 1));
        EXPECT_EQ(view(builder_.sched("s", sched).partition), expected);
    }
}

TEST_F(RecordsTest, AReservationHasThePlacesOfEachOfItsTimes) {
    ReservationStanding standing;
    standing.asked = true;
    standing.requested = {{"select", "1:ncpus=1"}};
    standing.places = places_of("(n1:ncpus=1)", names_);
    standing.later.push_back({10, 20, places_of("(n1:ncpus=2)+(n2:ncpus=3)", names_), true});
    standing.later.push_back({30, 40, {}, false});
    const pbs_reservation_record& record = builder_.reservation(standing);
    EXPECT_EQ(record.state, PBS_RESERVATION_ASKED);
    EXPECT_EQ(record.place_count, 1U);
    ASSERT_EQ(record.later_count, 2U);
    ASSERT_EQ(record.later[0].place_count, 2U);
    EXPECT_EQ(record.later[0].places[1].amounts[0].number, 3);
    EXPECT_EQ(record.later[1].place_count, 0U);
    EXPECT_EQ(record.later_requested_count, 0U);
}

TEST_F(RecordsTest, ADecisionHasWhatIsUsedUpOfVnodes) {
    const pbs_amount amounts[] = {{0, 0, 2, {}}, {3, 0, 4, {}}};
    const pbs_place places[] = {{11, amounts, 2}, {12, amounts, 1}};
    const std::uint8_t joined[] = {0, 1};
    const pbs_amount set[] = {{4, 0, 90, {}}, {9, 0, 1, {}}};
    pbs_decision in{};
    in.size = sizeof in;
    in.kind = PBS_DECIDE_RUN;
    in.places = places;
    in.place_count = 2;
    in.joined = joined;
    in.set_resources = set;
    in.set_resource_count = 2;
    in.start = 5;
    const Decision out = decision_of(in, names_);
    EXPECT_EQ(out.kind, Decision::Kind::run);
    ASSERT_EQ(out.places.size(), 2U);
    EXPECT_EQ(out.places[0].node_name, "n1");
    EXPECT_THAT(out.places[0].amounts, ElementsAre(Pair(0, 2))) << "processes are none of the vnode's";
    EXPECT_FALSE(out.places[0].joined);
    EXPECT_TRUE(out.places[1].joined);
    EXPECT_THAT(out.set_resources, ElementsAre(Pair(4, "00:01:30"))) << "there is no resource 9";
    EXPECT_EQ(out.start, 0) << "of estimates and confirmations";
    in.kind = 99;
    in.methods[0] = PBS_PREEMPT_REQUEUE;
    EXPECT_EQ(decision_of(in, names_).kind, Decision::Kind::comment);
    EXPECT_EQ(decision_of(in, names_).methods, "R");
}

}  // namespace
}  // namespace pbs::cluster

#include "ifl/cmds/explain_format.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ifl/cmds/datetime.h"

namespace pbs::cmds {
namespace {

struct Attribute {
    std::string name;
    std::string resource;
    std::string value;
};

// Builds a server's reply in the form in which the PBS API returns it: a list of batch_status.
class ReplyList {
  public:
    void object(const std::string& name, const std::vector<Attribute>& attributes) {
        batch_status& object = objects_.emplace_back();
        object.name = keep(name);
        attrl** end = &object.attribs;
        for (const Attribute& a : attributes) {
            attrl& made = attributes_.emplace_back();
            made.name = keep(a.name);
            made.resource = a.resource.empty() ? nullptr : keep(a.resource);
            made.value = keep(a.value);
            *end = &made;
            end = &made.next;
        }
        if (objects_.size() > 1) {
            objects_[objects_.size() - 2].next = &object;
        }
    }
    const batch_status* list() const { return objects_.empty() ? nullptr : &objects_.front(); }

  private:
    char* keep(const std::string& text) { return texts_.emplace_back(text).data(); }
    std::deque<std::string> texts_;
    std::deque<attrl> attributes_;
    std::deque<batch_status> objects_;
};

constexpr std::time_t kStart = 1795262400;

ReplyList waiting() {
    ReplyList reply;
    reply.object("12.host", {{"outcome", "", "waits"},
                             {"reason", "", "Queue small runs its limit of 2 jobs"},
                             {"queue", "", "small"},
                             {"sched", "", "default"},
                             {"policy", "", "night"},
                             {"sched_algorithm", "", "origin"},
                             {"class", "", "normal"},
                             {"place", "", "3"},
                             {"jobs", "", "120"},
                             {"class_place", "", "2"},
                             {"class_jobs", "", "110"},
                             {"order", "nodes", "4"},
                             {"order_largest_first", "nodes", "True"},
                             {"order_attributes", "nodes", "ssinode_cpus, ssinode_mem"},
                             {"order", "walltime", "04:00:00"},
                             {"past_usage", "", "12.5"},
                             {"share_group", "", "f1"},
                             {"share_entity", "", "alice"},
                             {"share_usage", "", "1234.5"},
                             {"share_target", "", "0.25"},
                             {"share_actual", "", "0.4"},
                             {"share_place", "", "3"},
                             {"share_entities", "", "7"},
                             {"gate", "small_job_max", ""},
                             {"gate_attributes", "small_job_max", "small_job_max"}});
    reply.object("small", {{"earliest_start", "", std::to_string(kStart)},
                           {"awaited", "running jobs have ended", std::to_string(kStart - 60)},
                           {"awaited", "prime time has ended", std::to_string(kStart)},
                           {"gate", "queue_maximum", ""},
                           {"gate", "max_running", "Queue small runs its limit of 2 jobs"},
                           {"decides", "max_running", "True"},
                           {"gate", "hosts", "Not enough resources free on the hosts of queue small"},
                           {"layer", "queue_resources", "ncpus,8,2,16,short,narrowest"},
                           {"layer", "vnodes", "ncpus,8,30,128,enough"},
                           {"layer", "vnodes", "mem,4gb,9gb,9gb,enough,narrowest"}});
    reply.object("large@n1", {{"gate", "user_acl", "Owner is not allowed to use queue large"}});
    return reply;
}

TEST(ExplanationText, SaysWhatComesOfItWhereAndWhy) {
    const ReplyList reply = waiting();
    EXPECT_EQ(explanation_text(reply.list()),
              fmt::format(
                  "Job 12.host: it waits: Queue small runs its limit of 2 jobs\n"
                  "Scheduler: default, policy night (origin)\n"
                  "Order: job 3 of 120, 2 of 110 in class normal\n"
                  "  nodes           4                           large first (ssinode_cpus, ssinode_mem)\n"
                  "  walltime        04:00:00                    small first\n"
                  "  past usage      12.5                        owners with little go first "
                  "(sort_by_past_usage)\n"
                  "Shares: alice in fs_group f1 is 3 of 7 entities with jobs: 40.000% of all usage (1234.5), "
                  "of 25.000% by its shares\n"
                  "The job itself:\n"
                  "  pass  small_job_max (small_job_max)\n"
                  "Queue small: earliest start {}, when running jobs have ended and prime time has "
                  "ended\n"
                  "  pass  queue_maximum\n"
                  "  FAIL  max_running  Queue small runs its limit of 2 jobs  <- decides\n"
                  "  FAIL  hosts        Not enough resources free on the hosts of queue small\n"
                  "  ncpus (8 asked): queue_resources 2 of 16 free, the narrowest; vnodes 30 of 128 free\n"
                  "Queue large@n1:\n"
                  "  FAIL  user_acl  Owner is not allowed to use queue large\n",
                  instant_text(kStart)));
}

TEST(ExplanationText, AStartAtAPlaceNamesThePlaceAndTheQueue) {
    ReplyList starts;
    starts.object("1.h", {{"outcome", "", "starts"}, {"queue", "", "q"}, {"location", "", "(n1:ncpus=1)"}});
    EXPECT_EQ(explanation_text(starts.list()), "Job 1.h: it may start at (n1:ncpus=1) in queue q\n");
    EXPECT_EQ(nlohmann::json::parse(explanation_json(starts.list()))["location"], "(n1:ncpus=1)");
    ReplyList waits;
    waits.object("1.h", {{"outcome", "", "waits"}, {"reason", "", "it is held"}, {"location", "", ""}});
    EXPECT_EQ(explanation_text(waits.list()), "Job 1.h: it may not start now: it is held\n");
}

TEST(ExplanationText, OfRangesAndPreferences) {
    ReplyList reply;
    reply.object("1.h", {{"outcome", "", "starts"}, {"queue", "", "q"}, {"missed", "mem>=64gb", "n1, n2"}});
    reply.object("q", {{"chunks", "", "4-16"},
                       {"chunks_now", "", "10"},
                       {"chunks_most", "", "16"},
                       {"chunks_most_start", "", std::to_string(kStart)}});
    reply.object("r", {{"chunks", "", "4-16"}, {"chunks_now", "", "0"}, {"chunks_most", "", "0"}});
    EXPECT_EQ(explanation_text(reply.list()),
              fmt::format("Job 1.h: a cycle now would start it in queue q\n"
                          "  it prefers mem>=64gb: not on n1, n2\n"
                          "Queue q:\n  may have 4-16 chunks: 10 now; 16 from {}\n"
                          "Queue r:\n  may have 4-16 chunks: 0 now\n",
                          instant_text(kStart)));
    const auto json = nlohmann::json::parse(explanation_json(reply.list()));
    EXPECT_EQ(json["missed"], nlohmann::json::array({{{"preference", "mem>=64gb"}, {"vnodes", "n1, n2"}}}));
    EXPECT_EQ(json["queues"][0]["chunks"],
              nlohmann::json({{"range", "4-16"}, {"now", 10}, {"most", 16}, {"most_start", kStart}}));
    EXPECT_EQ(json["queues"][1]["chunks"], nlohmann::json({{"range", "4-16"}, {"now", 0}, {"most", 0}}));
}

TEST(ExplanationText, OfOtherOutcomes) {
    const auto text = [](const std::vector<Attribute>& attributes) {
        ReplyList reply;
        reply.object("1.h", attributes);
        return explanation_text(reply.list());
    };
    EXPECT_EQ(text({{"outcome", "", "starts"}, {"queue", "", "q"}}),
              "Job 1.h: a cycle now would start it in queue q\n");
    EXPECT_EQ(text({{"outcome", "", "rejected"}, {"reason", "", "too large"}}),
              "Job 1.h: a cycle now would reject it: too large\n");
    EXPECT_EQ(text({{"outcome", "", "not considered"}, {"reason", "", "it is held"}, {"sched", "", "s"}}),
              "Job 1.h: no cycle looks at it now: it is held\nScheduler: s\n");
    EXPECT_EQ(explanation_text(nullptr), "");
}

TEST(ExplanationJson, KeepsWhatIsNoNumber) {
    ReplyList reply;
    reply.object("1.h", {{"outcome", "", "waits"}, {"past_usage", "", "much"}});
    EXPECT_EQ(nlohmann::json::parse(explanation_json(reply.list()))["past_usage"], "much");
}

TEST(ExplanationJson, HasTheSame) {
    const ReplyList reply = waiting();
    const auto json = nlohmann::json::parse(explanation_json(reply.list()));
    EXPECT_EQ(json["job"], "12.host");
    EXPECT_EQ(json["outcome"], "waits");
    EXPECT_EQ(json["place"], 3);
    EXPECT_EQ(json["past_usage"], 12.5);
    EXPECT_EQ(json["shares"], nlohmann::json({{"fs_group", "f1"},
                                              {"entity", "alice"},
                                              {"usage", 1234.5},
                                              {"target", 0.25},
                                              {"actual", 0.4},
                                              {"place", 3},
                                              {"entities", 7}}));
    EXPECT_EQ(json["order"][0], nlohmann::json({{"key", "nodes"},
                                                {"value", "4"},
                                                {"largest_first", true},
                                                {"attributes", "ssinode_cpus, ssinode_mem"}}));
    ASSERT_EQ(json["queues"].size(), 2U);
    EXPECT_EQ(json["queues"][0]["earliest_start"], kStart);
    EXPECT_EQ(json["queues"][0]["awaited"],
              nlohmann::json({{{"when", "running jobs have ended"}, {"until", kStart - 60}},
                              {{"when", "prime time has ended"}, {"until", kStart}}}));
    EXPECT_EQ(json["queues"][0]["gates"][0], nlohmann::json({{"gate", "queue_maximum"}, {"passes", true}}));
    EXPECT_EQ(json["queues"][0]["gates"][1],
              nlohmann::json({{"gate", "max_running"},
                              {"passes", false},
                              {"reason", "Queue small runs its limit of 2 jobs"},
                              {"decides", true}}));
    EXPECT_EQ(json["queues"][0]["layers"].size(), 3U);
    EXPECT_EQ(json["queues"][0]["layers"][0], nlohmann::json({{"resource", "ncpus"},
                                                              {"layer", "queue_resources"},
                                                              {"asked", "8"},
                                                              {"free", "2"},
                                                              {"total", "16"},
                                                              {"short", true},
                                                              {"narrowest", true}}));
    EXPECT_FALSE(json["queues"][0]["layers"][1].contains("narrowest"));
    EXPECT_FALSE(json["queues"][1].contains("earliest_start"));
    EXPECT_FALSE(json["queues"][1].contains("layers"));
}

TEST(ExplanationJson, HasTheCounterOfAQuota) {
    ReplyList reply;
    reply.object("1.h", {{"outcome", "", "waits"}});
    reply.object("long", {{"gate", "user_acl", "Owner is not allowed to use queue long"},
                          {"gate", "quota", "Not Running: Quota q1 (guests): ncpus (R: 1 U: 4 L: 4)"},
                          {"gate_fact", "quota", "quota,q1"},
                          {"gate_fact", "quota", "rule,guests"},
                          {"gate_fact", "quota", "of,users=bob"},
                          {"gate_fact", "quota", "of,vnodes=a=b,c"},
                          {"gate_fact", "quota", "resource,ncpus"},
                          {"gate_fact", "quota", "asked,1"},
                          {"gate_fact", "quota", "used,4"},
                          {"gate_fact", "quota", "limit,4"},
                          {"gate_fact", "quota", "nothing"}});
    const auto gates = nlohmann::json::parse(explanation_json(reply.list()))["queues"][0]["gates"];
    EXPECT_FALSE(gates[0].contains("counter"));
    EXPECT_EQ(gates[1]["counter"], nlohmann::json({{"quota", "q1"},
                                                   {"rule", "guests"},
                                                   {"of", {{"users", "bob"}, {"vnodes", "a=b,c"}}},
                                                   {"resource", "ncpus"},
                                                   {"asked", "1"},
                                                   {"used", "4"},
                                                   {"limit", "4"}}));
}

TEST(Explanation, TellsWhatIsNotInForce) {
    const std::string note = "quota q1 (half): ncpus isn't limited: (pt*2) isn't known for vnodes=n1";
    ReplyList reply;
    reply.object("1.h", {{"outcome", "", "waits"}});
    reply.object("long", {{"gate", "quota", "Not Running: Quota q1 (guests): ncpus (R: 1 U: 4 L: 4)"},
                          {"gate_fact", "quota", "holds_from,1795262400"},
                          {"note", "", note}});
    EXPECT_THAT(explanation_text(reply.list()), testing::HasSubstr("  " + note + "\n"));
    const auto json = nlohmann::json::parse(explanation_json(reply.list()))["queues"][0];
    EXPECT_EQ(json["notes"], nlohmann::json({note}));
    EXPECT_EQ(json["gates"][0]["counter"]["holds_from"], 1795262400);
}

}  // namespace
}  // namespace pbs::cmds

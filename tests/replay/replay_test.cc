// Tests that a recorded cycle, run again, gives the same decisions, and that a changed record gives other
// decisions.
#include "tools/replay/replay.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

#include "objects/config_json.h"
#include "objects/draft.h"
#include "objects/snapshot.h"
#include "objects/value.h"
#include "tests/cases.h"
#include "tests/scheduler/random_cluster.h"
#include "tools/replay/anonymous.h"

namespace pbs::replay {
namespace {

using objects::ObjectType;
using record::decided_lines;
using record::DecidedLine;
using record::RecordSink;
using record::RecordWriter;
using sched::Instant;
using sched::Seconds;
using sched::test::at;
using sched::test::RandomCluster;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using Values = std::vector<std::pair<std::string, std::string>>;

std::string record_of(sched::Scheduler& scheduler, const CycleAsked& asked) {
    std::string text;
    sched::Inspector inspector = scheduler.inspect();
    record_cycle(
        inspector, asked, [&](std::string_view part) { text += part; }, false);
    return text;
}

objects::Object object(ObjectType type, const std::string& name, const Values& values) {
    objects::Object made(type, name);
    for (const auto& [attribute, text] : values) {
        const objects::Attribute* row = objects::find_attribute(type, attribute);
        if (row == nullptr || text.empty()) {
            EXPECT_NE(row, nullptr) << attribute;
            continue;
        }
        auto value = objects::parse_value(*row, text);
        EXPECT_TRUE(value.has_value()) << attribute << " = " << text;
        if (value) made.assign(*row, *std::move(value));
    }
    return made;
}

std::string list(const std::vector<sched::QueueSpec>& specs) {
    std::string text;
    for (const sched::QueueSpec& spec : specs)
        text += (text.empty() ? "" : ",") + spec.queue + (spec.host.empty() ? "" : "@" + spec.host);
    return text;
}

// Converts the settings of a random cluster's policy to a policy object.
objects::Object policy_object(const sched::Settings& s) {
    const auto yes = [](bool value) { return std::string(value ? "True" : "False"); };
    const auto time = [](Seconds value) { return std::to_string(value.count()); };
    if (s.algorithm == sched::Algorithm::standard)
        return object(ObjectType::policy, "p1",
                      {{"strict_ordering", yes(s.strict_ordering)},
                       {"round_robin", yes(s.round_robin)},
                       {"backfill_depth", std::to_string(s.backfill_depth)},
                       {"max_starve", time(s.max_starve)}});
    Values values{{"algorithm", "origin"},
                  {"submit_queue", list(s.submit_queue)},
                  {"special_queue", list(s.special_queue)},
                  {"batch_queues", list(s.batch_queues)},
                  {"external_queues", list(s.external_queues)},
                  {"enforce_prime_time", yes(s.enforce_prime_time.value)},
                  {"prime_time_wallt_limit", time(s.prime_time_wallt_limit)},
                  {"nonprime_drain_sys", yes(s.nonprime_drain_sys.value)},
                  {"np_drain_backtime", time(s.np_drain_backtime)},
                  {"np_drain_idletime", time(s.np_drain_idletime)},
                  {"avoid_fragmentation", yes(s.avoid_fragmentation.value)},
                  {"sort_by_past_usage", yes(s.sort_by_past_usage.value)}};
    if (s.max_queued_time > Seconds(0)) values.emplace_back("max_queued_time", time(s.max_queued_time));
    if (s.max_user_run_jobs > 0)
        values.emplace_back("max_user_run_jobs", std::to_string(s.max_user_run_jobs));
    if (s.max_jobs > 0) values.emplace_back("max_jobs", std::to_string(s.max_jobs));
    return object(ObjectType::policy, "p1", values);
}

objects::Object window_object(const std::string& name, const std::string& type, const std::string& days,
                              int from, int to) {
    return object(ObjectType::time_window, name,
                  {{"rrule", "FREQ=WEEKLY;BYDAY=" + days},
                   {"start_time", fmt::format("{:02}00", from)},
                   {"end_time", fmt::format("{:02}00", to)},
                   {"type", type}});
}

// A random cluster whose configuration consists of objects, as a record needs. With an Origin policy, it also
// gets further random inputs.
struct ObjectCluster : RandomCluster {
    explicit ObjectCluster(unsigned seed) : RandomCluster(seed) {
        const sched::Settings& s = world.policy();
        objects::Draft draft(std::make_shared<const objects::Snapshot>());
        objects::Object policy = policy_object(s);
        if (s.algorithm == sched::Algorithm::origin) {
            draft.put(window_object("prime", "prime", "MO,TU,WE,TH,FR", 8, 17));
            add_origin(policy);
        } else if (chance(60)) {
            add_shares(draft, policy);
        }
        if (!world.configuration.dedicated.empty())
            draft.put(window_object("dedicated", "dedicated", "WE", 16, 19));
        if (chance(20)) {
            draft.put(window_object("evening", "standard", "MO,TU", 4, 20));
            draft.put(object(ObjectType::queue, batch.front().name, {{"time_window", "evening"}}));
        }
        in_file = chance(20);
        draft.put(object(ObjectType::sched, "default", {{"policy", in_file ? "" : "p1"}}));
        draft.put(policy);
        EXPECT_TRUE(world.scheduler.set_configuration(draft.finish(7)));
        if (in_file) {
            const auto file = std::make_shared<const objects::Object>(policy);
            EXPECT_TRUE(world.scheduler.set_sched_config("default", file));
        }
        world.scheduler.load_usage(std::vector<sched::UsageRow>{{"g1", "u1", 12.3}, {"g2", "u\xe9", 1.0 / 3}},
                                   {}, now - Seconds(3600));
        world.scheduler.load_shares("fs_group:tree",
                                    std::vector<sched::UsageRow>{
                                        {"", "u1", 12'345.6}, {"", "phys", 23'456.7}, {"", "u\xe9", 1e7 / 3}},
                                    std::vector<sched::ChargeRow>{{"1.server", {}, {}, 10.5}},
                                    now - Seconds(3600));
        world.scheduler.tick(now);
    }
    void add_shares(objects::Draft& draft, objects::Object& policy) {
        static constexpr std::array<const char*, 3> kEntities{"euser", "Account_Name", "egroup:euser"};
        draft.put(object(ObjectType::fs_group, "tree",
                         {{"tree_element", "phys:root = 40, chem:root = 60, u1:phys = 10, u2:phys = 30"},
                          {"entity", kEntities.at(static_cast<std::size_t>(pick(0, 2)))},
                          {"usage_formula", chance(50) ? "ncpus*walltime" : "walltime^2"},
                          {"decay_time", "00:30:00"}}));
        for (const auto& [name, text] :
             {std::pair("fairshare_group", "tree"), std::pair("fairshare", "True")}) {
            const objects::Attribute& row = *objects::find_attribute(ObjectType::policy, name);
            policy.assign(row, *objects::parse_value(row, text));
        }
    }
    void add_origin(objects::Object& policy) {
        const auto set = [&](const char* name, const std::string& text) {
            const objects::Attribute& row = *objects::find_attribute(ObjectType::policy, name);
            auto value = objects::parse_value(row, text);
            ASSERT_TRUE(value.has_value()) << name << " = " << text;
            policy.assign(row, *std::move(value));
        };
        if (chance(40)) {
            set("enforce_allocation", "True");
            set("sched_acct_dir", "acct");
            world.scheduler.set_allocated("acct", {{"g1", 20.7}, {"g2", -1.0}, {"a \xe9\"%", 0.1}});
            world.scheduler.set_used("acct", {{"g1", 10.1}});
        }
        if (chance(30)) {
            set("enforce_dedicated_time", "True");
            set("dedicated_time_command", "/bin/outages");
            for (const char* host : {"", "h0"}) {
                if (chance(30))
                    world.scheduler.await_outages("/bin/outages", host);
                else
                    world.scheduler.set_outages(
                        "/bin/outages", host,
                        {{now + std::chrono::hours(3), now + std::chrono::hours(5), "disks"}});
            }
        }
        if (chance(30)) set("sorted_job_dumpfile", "sorted");
        if (chance(20)) set("sched_restart_action", chance(50) ? "resubmit" : "none");
        if (chance(10)) set("test_only", "True");
    }
    bool in_file = false;
};

std::vector<std::string> texts(const std::vector<DecidedLine>& lines) {
    std::vector<std::string> out;
    out.reserve(lines.size());
    for (const DecidedLine& line : lines) out.push_back(line.text);
    return out;
}

// Removes the line with the number of jobs that a cycle has considered, as a cycle after events may consider
// fewer than a cycle over all jobs.
std::vector<std::string> without_end(std::vector<std::string> lines) {
    std::erase_if(lines, [](const std::string& line) { return line.starts_with("{\"end\""); });
    return lines;
}

// Runs a cycle of the scheduler, not of a record. Returns its decisions as lines like those of a record.
std::vector<std::string> lived(sched::Scheduler& scheduler, Instant now) {
    RecordWriter writer;
    scheduler.describe([&](const sched::StateRecord& record) { writer.state_names(record); });
    writer.decisions(scheduler.cycle(now, "default", sched::CycleTrigger::command));
    return without_end(texts(decided_lines(writer.text())));
}

std::vector<std::string> recorded(const std::string& record) {
    const auto cycle = record.find("{\"cycle\"");
    auto lines = texts(decided_lines(std::string_view(record).substr(cycle)));
    lines.erase(lines.begin());
    return without_end(std::move(lines));
}

// Requests a reservation. All earlier reservations are confirmed or gone.
void reserve(ObjectCluster& cluster) {
    const Instant start = cluster.now + std::chrono::minutes(cluster.pick(0, 90));
    sched::test::ReservationOptions asked{
        start, start + std::chrono::hours(cluster.pick(1, 3)),
        std::to_string(cluster.pick(1, 2)) + ":ncpus=" + std::to_string(cluster.pick(1, 4))};
    for (int day = cluster.pick(0, 3); day > 0; --day)
        asked.later.emplace(asked.later.begin(), asked.start + std::chrono::days(day),
                            asked.end + std::chrono::days(day));
    cluster.world.reserve(asked);
}

// Adds an array whose subjobs start together.
void add_array(ObjectCluster& cluster) {
    sched::test::JobOptions array{.queue = cluster.batch.front().name,
                                  .ncpus = 1,
                                  .subjob = 1,
                                  .queued = cluster.now,
                                  .start_within = 0};
    array.together = cluster.pick(2, 3);
    cluster.jobs.push_back(cluster.world.job(array, cluster.now));
}

TEST(Replay, ARecordedCycleOfAnyClusterGivesTheSameDecisions) {
    std::size_t decisions = 0;
    std::ptrdiff_t together = 0;
    for (unsigned seed = 1; seed <= static_cast<unsigned>(pbs::test::cases(60)); ++seed) {
        SCOPED_TRACE(seed);
        ObjectCluster cluster(seed);
        for (int round = 0; round < 4; ++round) {
            cluster.add_jobs(cluster.pick(1, 25));
            add_array(cluster);
            reserve(cluster);
            const CycleAsked asked{cluster.now, "default", sched::CycleTrigger::timer};
            const std::string record = record_of(cluster.world.scheduler, asked);
            ASSERT_EQ(record, record_of(cluster.world.scheduler, asked)) << "recorded twice";
            const auto again = replay(record, "record");
            ASSERT_TRUE(again.has_value()) << again.error().message;
            ASSERT_THAT(again->differences, IsEmpty());
            EXPECT_EQ(again->cycle.now, asked.now);
            EXPECT_EQ(again->cycle.trigger, asked.trigger);
            decisions += again->decisions;
            together += std::ranges::count_if(recorded(record), [](const std::string& line) {
                return line.find("\"together\":2") != std::string::npos;
            });
            // Go on with a cycle of the scheduler itself. If recording had changed the scheduler, later
            // records would differ from its cycles.
            cluster.drop_rejected(cluster.world.cycle(cluster.now));
            cluster.pass_time();
            cluster.world.scheduler.tick(cluster.now);
        }
        cluster.add_jobs(5);
        const std::string last = record_of(cluster.world.scheduler, {cluster.now});
        ASSERT_EQ(recorded(last), lived(cluster.world.scheduler, cluster.now));
    }
    EXPECT_GT(decisions, static_cast<std::size_t>(pbs::test::cases(60)) * 10)
        << "the clusters are such that something is decided";
    EXPECT_GT(together, pbs::test::cases(60) / 10);
}

TEST(Anonymous, DecidesTheSameAndHasNoNames) {
    for (unsigned seed = 1; seed <= static_cast<unsigned>(pbs::test::cases(40)); ++seed) {
        SCOPED_TRACE(seed);
        ObjectCluster cluster(seed);
        cluster.add_jobs(20);
        cluster.drop_rejected(cluster.world.cycle(cluster.now));
        cluster.add_jobs(20);
        reserve(cluster);
        const std::string record = record_of(cluster.world.scheduler, {cluster.now});
        const auto other = anonymous(record, "record");
        ASSERT_TRUE(other.has_value()) << other.error().message;
        const auto before = replay(record, "record");
        const auto again = replay(*other, "anonymous");
        ASSERT_TRUE(again.has_value()) << again.error().message;
        EXPECT_THAT(again->differences, IsEmpty());
        EXPECT_EQ(again->decisions, before->decisions);
        for (const char* name : {"\"u1\"", "\"g1\"", "\"submit\"", "\"h0\"", ".server\"", "disks"})
            EXPECT_THAT(*other, Not(HasSubstr(name)));
        EXPECT_EQ(anonymous(*other, "anonymous"), *other) << "in the order in which they were";
    }
}

// Texts with a planted name, in the forms of all syntaxes.
constexpr std::array<const char*, 18> kPlanted = {
    "secret",
    "FREQ=DAILY SUMMARY:secret",
    "@secret",
    "secret@secret",
    "secret secret@secret:15001",
    "/secret",
    "ncpus !/secret",
    "secret:ncpus >= 1",
    "[u:secret=1]",
    "[g:secret=1]",
    "[p:secret=1]",
    "[q:secret=1]",
    "secret:root=3",
    "r: users=secret,@secret,se*t,!sec*,!@s*t to jobs=9",
    "r: groups={secret} projects={s*} queues=secret to jobs=9",
    "r: queues={s*} vnodes={secret,se*t} shapes=!multi to jobs=9",
    "r: vnodes={host:secret,host:s*} to jobs=9,host=secret",
    "r: vnodes=vnode:secret,vnode:s*,!rack:r1 to jobs=9"};

// The syntaxes whose names are those of resources and of objects of the plugin, which a record keeps.
bool keeps_names(const objects::Attribute& attribute, std::string_view value) {
    using enum objects::Syntax;
    for (const auto syntax : {formula, object_name, object_names, policy_slots, resource_list, node_sort_keys,
                              place_sort_keys, job_sort_keys, resource_weights, load_weights})
        if (attribute.syntax == syntax) return true;
    // A text that is no recurrence is refused when it is set, not when it is read.
    if (attribute.syntax == rrule || (attribute.syntax == rrule_list && !value.starts_with("FREQ")))
        return true;
    return attribute.name == "rule_order" || attribute.name == "ticket_order";
}

TEST(Anonymous, HasNoNameOfAnyAttribute) {
    std::set<objects::Syntax> planted;
    for (const ObjectType type : objects::kConfiguredTypes)
        for (const objects::Attribute& attribute : objects::attributes(type))
            for (const char* text : kPlanted) {
                auto value = attribute.is_keyed()
                                 ? objects::value_of_items(attribute, std::vector<std::string>{text})
                                 : objects::parse_value(attribute, text);
                if (!value || keeps_names(attribute, text)) continue;
                SCOPED_TRACE(fmt::format("{} {} = {}", objects::type_name(type), attribute.name, text));
                objects::Object one(type, type == ObjectType::server ? "" : "p1");
                one.assign(attribute, *std::move(value));
                const std::string record = fmt::format(
                    "{{\"pbspolicy_record\":1,\"time_zone\":\"UTC\"}}\n"
                    "{{\"object\":{{\"type\":\"{}\",\"name\":\"p1\",\"attributes\":{}}}}}\n",
                    objects::type_name(type), objects::to_json(&one));
                EXPECT_THAT(record, HasSubstr("secret"));
                EXPECT_THAT(without_names(record), Not(HasSubstr("secret")));
                planted.insert(attribute.syntax);
            }
    using enum objects::Syntax;
    EXPECT_THAT(planted,
                ::testing::IsSupersetOf({text, pathname, output_file, program, host, queue, queue_list,
                                         load_thresholds, entity_weights, peer_queues, dynamic_resources,
                                         tree_elements, quota_rules, names, rrule_list}));
}

// A record of jobs that quotas, shares and tickets decide about by names and patterns.
TEST(Anonymous, DecidesTheSameByNamesInAttributes) {
    sched::test::World world;
    objects::Draft draft(std::make_shared<const objects::Snapshot>());
    draft.put(object(ObjectType::policy, "p1",
                     {{"by_queue", "False"},
                      {"quotas", "q1"},
                      {"weighted_priority", "True"},
                      {"deadline_users", "carl,@staff"},
                      {"tickets_functional", "1000"},
                      {"functional_weights", "user=1"},
                      {"functional_shares", "[u:carl=50],[u:PBS_GENERIC=10]"},
                      {"override_tickets", "[g:guests=30]"},
                      {"load_thresholds", "secretq:load_avg >= 90"}}));
    draft.put(object(ObjectType::sched, "default", {{"policy", "p1"}}));
    objects::Object quota = object(ObjectType::quota, "q1", {{"enabled", "True"}});
    const objects::Attribute& rule = *objects::find_attribute(ObjectType::quota, "rule");
    quota.assign(rule,
                 *objects::value_of_items(
                     rule, std::vector<std::string>{"staff: users={@staff,!carl} queues=secretq to jobs=1",
                                                    "some: users={b*,x*} vnodes=n[12] to ncpus=2",
                                                    "rest: users={*} vnodes={host:n*} to ncpus=3"}));
    draft.put(std::move(quota));
    ASSERT_TRUE(world.scheduler.set_configuration(draft.finish(1)));
    world.queue({.name = "secretq"});
    world.queue({.name = "other"});
    for (const char* name : {"n1", "n2", "n3"})
        world.vnode({.name = name, .ncpus = 4, .host_resource = name});
    for (const char* owner : {"ann", "bob", "bert", "carl", "dora"})
        for (int i = 0; i < 3; ++i)
            world.job({.queue = i == 0 ? "other" : "secretq",
                       .owner = owner,
                       .group = owner == std::string("dora") ? "guests" : "staff",
                       .ncpus = 1 + i,
                       .prefer = i == 1 ? "host=n3+queue=other+vnode!=n1" : ""});
    const std::string record = record_of(world.scheduler, {at(1)});
    const auto before = replay(record, "record");
    ASSERT_TRUE(before.has_value()) << before.error().message;
    EXPECT_GT(before->decisions, 8U);
    const auto other = anonymous(record, "record");
    ASSERT_TRUE(other.has_value()) << other.error().message;
    for (const char* name : {"\"ann\"", "bob", "bert", "carl", "dora", "guests", "secretq", "\"other\"",
                             "\"n1\"", "\"n3\"", "n[12]", "host=n3"})
        EXPECT_THAT(*other, Not(HasSubstr(name)));
    EXPECT_EQ(anonymous(*other, "anonymous"), *other);
}

// Writes the state that a record contains into a new record, so that the test can compare both records.
class Copy : public RecordSink {
  public:
    Result<void> begin(const std::string& time_zone) override {
        writer.begin(time_zone);
        return {};
    }
    Result<void> state(const sched::StateRecord& record) override {
        writer.state(record);
        return {};
    }
    RecordWriter writer;
};

TEST(Replay, ARecordReadAndWrittenIsTheSame) {
    for (unsigned seed = 1; seed <= static_cast<unsigned>(pbs::test::cases(60)); ++seed) {
        SCOPED_TRACE(seed);
        ObjectCluster cluster(seed);
        cluster.add_jobs(20);
        cluster.drop_rejected(cluster.world.cycle(cluster.now));
        cluster.add_jobs(20);
        reserve(cluster);
        const std::string record = record_of(cluster.world.scheduler, {cluster.now});
        Copy copy;
        const auto read = read_record(record, "record", copy);
        ASSERT_TRUE(read.has_value()) << read.error().message;
        copy.writer.cycle(read->cycle);
        ASSERT_EQ(copy.writer.text(), record.substr(0, copy.writer.text().size()));
    }
}

struct OneJob : testing::Test {
    sched::test::World world;
    std::string record;
    void SetUp() override {
        objects::Draft draft(std::make_shared<const objects::Snapshot>());
        draft.put(object(ObjectType::policy, "p1", {{"by_queue", "True"}}));
        draft.put(object(ObjectType::sched, "default", {{"policy", "p1"}}));
        ASSERT_TRUE(world.scheduler.set_configuration(draft.finish(1)));
        world.queue({.name = "work"});
        world.vnode({.name = "n1", .ncpus = 4});
        world.job({.queue = "work", .ncpus = 3});
        world.job({.queue = "work", .ncpus = 2});
        record = record_of(world.scheduler, {at(1)});
    }
    std::string changed(const std::string& from, const std::string& to) const {
        std::string text = record;
        const auto found = text.find(from);
        EXPECT_NE(found, std::string::npos) << from << " in " << text;
        if (found != std::string::npos) text.replace(found, from.size(), to);
        return text;
    }
};

TEST_F(OneJob, TheRecordSaysWhatWasDecided) {
    EXPECT_THAT(record, HasSubstr("{\"run\":{\"job\":\"1.server\",\"queue\":\"work\","));
    EXPECT_THAT(record, HasSubstr("\"places\":[{\"vnode\":\"n1\",\"amounts\":[[\"ncpus\",3]]}]}}\n"));
    EXPECT_THAT(record, HasSubstr("{\"comment\":{\"job\":\"2.server\",\"text\":\""));
    const auto same = replay(record, "record");
    ASSERT_TRUE(same.has_value()) << same.error().message;
    EXPECT_THAT(same->differences, IsEmpty());
    EXPECT_EQ(same->jobs, 2U);
    EXPECT_EQ(same->decisions, 2U);
}

TEST_F(OneJob, AChangedJobIsADifference) {
    const auto done = replay(changed("[\"ncpus\",3]", "[\"ncpus\",2]"), "record");
    ASSERT_TRUE(done.has_value()) << done.error().message;
    ASSERT_EQ(done->differences.size(), 2U);
    EXPECT_THAT(done->differences[0], HasSubstr("job 1.server: recorded {\"run\":"));
    EXPECT_THAT(done->differences[0], HasSubstr("\njob 1.server: now      {\"run\":"));
    EXPECT_THAT(done->differences[0], HasSubstr("[[\"ncpus\",2]]"));
    EXPECT_THAT(done->differences[1], HasSubstr("job 2.server: recorded {\"comment\":"));
    EXPECT_THAT(done->differences[1], HasSubstr("\njob 2.server: now      {\"run\":"));
}

TEST_F(OneJob, ADecisionMoreOrLessIsADifference) {
    const auto from = record.find("{\"comment\":");
    const auto line = record.substr(from, record.find('\n', from) + 1 - from);
    const auto less = replay(changed(line, ""), "record");
    ASSERT_TRUE(less.has_value()) << less.error().message;
    EXPECT_THAT(less->differences, ElementsAre(HasSubstr("job 2.server: recorded nothing\n")));
    const auto more = replay(changed(line, line + line), "record");
    ASSERT_TRUE(more.has_value()) << more.error().message;
    EXPECT_THAT(more->differences, ElementsAre(HasSubstr("\njob 2.server: now      nothing")));
}

TEST_F(OneJob, TheOrderOfDecisionsCounts) {
    const auto comment = record.find("{\"comment\":");
    const auto comment_line = record.substr(comment, record.find('\n', comment) + 1 - comment);
    std::string text = changed(comment_line, "");
    text.insert(text.find("{\"run\":"), comment_line);
    const auto done = replay(text, "record");
    ASSERT_TRUE(done.has_value()) << done.error().message;
    EXPECT_THAT(done->differences,
                ElementsAre(HasSubstr("the order differs at decision 1:\nrecorded {\"comment\"")));
}

TEST_F(OneJob, BlanksAndTheOrderOfKeysDoNotCount) {
    const auto done =
        replay(changed("{\"comment\":{\"job\":\"2.server\",", "{ \"comment\" : { \"job\" :\"2.server\" ,"),
               "record");
    ASSERT_TRUE(done.has_value()) << done.error().message;
    EXPECT_THAT(done->differences, IsEmpty());
}

TEST_F(OneJob, AZoneOfAnotherMachineIsReplaced) {
    const std::string text = changed("\"time_zone\":\"UTC\"", "\"time_zone\":\"/etc/localtime\"");
    const auto refused = replay(text, "record");
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().message,
                HasSubstr("record:1: time_zone: '/etc/localtime' is not a time zone"));
    const auto done = replay(text, "record", "UTC");
    ASSERT_TRUE(done.has_value()) << done.error().message;
    EXPECT_THAT(done->differences, IsEmpty());
}

TEST_F(OneJob, WhatTheSchedulerRefusesHasTheLineOfTheConfiguration) {
    const auto done = replay(changed("\"by_queue\":\"True\"", "\"job_sort_formula\":\"1 +\""), "record");
    ASSERT_FALSE(done.has_value());
    EXPECT_THAT(done.error().message, HasSubstr("policy p1"));
    EXPECT_THAT(done.error().message, testing::StartsWith("record:"));
}

}  // namespace
}  // namespace pbs::replay

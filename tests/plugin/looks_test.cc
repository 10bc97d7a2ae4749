// Tests long explanations and records: the plugin makes them in a thread, while its host goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "ifl/pbs_error.h"
#include "tests/plugin/fake_host.h"

namespace pbs::plugin_test {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;
using ::testing::StartsWith;

// The number of jobs with which cycles, explanations and records are made in a thread.
#ifdef NDEBUG
constexpr uint64_t kMany = 200'000;
#else
constexpr uint64_t kMany = 20'000;
#endif

pbs_str str(const std::string& text) {
    return {text.data(), text.size()};
}

class Looks : public ::testing::Test {
  protected:
    void SetUp() override {
        host.bring_up();
        host.queue(kBatch, "batch");
        host.vnode(201, "n1", 8);
    }
    void many_jobs() {
        for (uint64_t i = 1; i <= kMany; ++i)
            host.job({.handle = i, .queue = kBatch, .ncpus = static_cast<int64_t>(1 + i % 4)});
    }
    // Makes a status request by one call, which isn't repeated.
    Answer ask(uint64_t ticket, int32_t type, const std::string& name, const std::string& extend = {}) {
        pbs_status_request request{};
        request.size = sizeof request;
        request.now = host.now;
        request.object_type = type;
        request.object_name = str(name);
        request.who = host.who;
        request.extend = str(extend);
        request.ticket = ticket;
        return host.status(request);
    }
    Answer explain(uint64_t ticket, const std::string& job = "5.server1") {
        return ask(ticket, PBS_OBJ_EXPLANATION, job);
    }
    Answer explain_as(const std::string& user, uint64_t ticket) {
        pbs_identity before = host.who;
        host.who.user = str(user);
        Answer answer = explain(ticket);
        host.who = before;
        return answer;
    }
    // Waits until `works` explanations or records have been finished since the host's start.
    void await(int works) const {
        while (host.works_finished < works) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    int32_t start_cycle(int32_t& running) {
        pbs_cycle_request request{};
        request.size = sizeof request;
        request.now = host.now;
        request.sched = {"default", 7};
        request.trigger = PBS_SCH_SCHEDULE_CMD;
        return host.plugin.start_cycle(host.plugin.self, &request, &running);
    }
    // Fetches a record with a ticket, part by part. Sets `parts` to the number of parts.
    std::string record(uint64_t ticket, int& parts, std::string extend = {}) {
        std::string text;
        for (parts = 0;;) {
            const Answer answer = ask(ticket, PBS_OBJ_RECORD, "default", extend);
            if (answer.code == PBSE_TRYAGAIN) {
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
                continue;
            }
            EXPECT_EQ(answer.code, 0) << answer.text;
            if (answer.code != 0) return text;
            EXPECT_LE(answer.value("text").size(), std::size_t{256} << 10);
            text += answer.value("text");
            ++parts;
            const auto more = answer.attributes.find("offset");
            if (more == answer.attributes.end()) return text;
            extend = "offset=" + more->second;
        }
    }
    std::string record_at_once() {
        std::string text;
        for (const Answer::Object& part : ask(0, PBS_OBJ_RECORD, "default").objects)
            text += part.attributes.at("text");
        return text;
    }

    FakeHost host;
};

// A start at a place is tested by test_start(); a host without it must not get an answer about cycles.
TEST_F(Looks, ExplainNoPlace) {
    host.job({.handle = 5, .queue = kBatch});
    ASSERT_EQ(explain(0).code, 0);
    for (const uint64_t ticket : {uint64_t{0}, uint64_t{7}}) {
        const Answer answer = ask(ticket, PBS_OBJ_EXPLANATION, "5.server1", "location");
        EXPECT_EQ(answer.code, PBSE_NOSUP) << ticket;
        EXPECT_THAT(answer.text, HasSubstr("'location'")) << ticket;
        EXPECT_TRUE(answer.objects.empty()) << ticket;
    }
}

// A counter's jobs are in several objects, and these in several parts of the reply.
TEST_F(Looks, JobsOfAQuotaComeInParts) {
    host.vnode(202, "large", 9999);
    ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_QUOTA, "q1", {{"enabled", "True"}}).code, 0);
    ASSERT_EQ(host.await(5, PBS_OBJ_QUOTA, "q1", {"rule.each", "users={*} to jobs=9999"}).code, 0);
    ASSERT_EQ(host.set(PBS_OBJ_POLICY, "default_policy", "quotas", "q1").code, 0);
    for (uint64_t i = 1; i <= 3003; ++i)
        host.job({.handle = i,
                  .queue = kBatch,
                  .owner = i <= 3 ? "bob" : "alice",
                  .state = 'R',
                  .ncpus = 1,
                  .vnode = 202});
    std::vector<Answer::Object> objects;
    int parts = 0;
    for (std::string extend = "jobs"; !extend.empty();) {
        const Answer part = ask(7, PBS_OBJ_QUOTA_USE, "default", extend);
        if (part.code == PBSE_TRYAGAIN) {
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
            continue;
        }
        ASSERT_EQ(part.code, 0) << part.text;
        objects.insert(objects.end(), part.objects.begin(), part.objects.end());
        ++parts;
        const auto more = part.attributes.find("offset");
        extend = more == part.attributes.end() ? "" : "offset=" + more->second;
    }
    EXPECT_GE(parts, 3);
    std::vector<std::size_t> jobs;  // of each object
    std::set<std::string> ids;
    int continued = 0;
    for (const Answer::Object& object : objects) {
        EXPECT_EQ(object.name, "q1");
        const bool continues = object.attributes.contains("continues");
        EXPECT_NE(continues, object.attributes.contains("rule"));
        std::size_t count = 0;
        for (const std::string& name : object.resources)
            if (name.starts_with("job.") && ids.insert(name).second) ++count;
        continued += continues ? 1 : 0;
        jobs.push_back(count);
    }
    std::ranges::sort(jobs);
    EXPECT_THAT(jobs, ElementsAre(3U, 1000U, 1000U, 1000U));
    EXPECT_EQ(continued, 2);

    host.who.user = {"bob", 3};
    host.who.privilege = 0;
    const Answer own = ask(0, PBS_OBJ_QUOTA_USE, "default", "jobs");
    ASSERT_EQ(own.objects.size(), 1U) << own.text;
    EXPECT_EQ(own.value("of"), "bob");
    EXPECT_THAT(own.objects[0].resources,
                IsSupersetOf({"of.users", "job.1.server1", "job.2.server1", "job.3.server1"}));
}

// ---- Tests of starts.

// An answer to test_start(): its code, the kind and the text of the decision, and the number of its places.
struct TestedStart {
    int32_t code = 0;
    int32_t kind = 0;
    std::string text;
    size_t places = 0;
    Answer answer;
};

class TestedStarts : public Looks {
  protected:
    void SetUp() override {
        Looks::SetUp();
        ASSERT_EQ(host.set(PBS_OBJ_POLICY, "default_policy", "algorithm", "external").code, 0);
        many_jobs();
    }
    // Makes one call. `vnode`: where the job is to start; 0: where the policy chooses.
    TestedStart test(uint64_t ticket, uint64_t job, uint64_t vnode = 0, bool explains = false) {
        const pbs_amount amount{0, 0, 2, {}};  // FakeHost defines ncpus first
        const pbs_place place{vnode, &amount, 1};
        pbs_start_request request{};
        request.size = sizeof request;
        request.now = host.now;
        request.job = job;
        request.takes = PBS_TAKES_PIECES;
        request.places = &place;
        request.place_count = vnode != 0 ? 1 : 0;
        request.explains = explains ? 1 : 0;
        request.ticket = ticket;
        request.user = host.who.user;
        pbs_cycle_result result{};
        result.size = sizeof result;
        TestedStart out;
        out.code = host.test_start(request, result, out.answer);
        if (out.code != 0 || result.decision_count == 0) return out;
        const pbs_decision& decision = result.decisions[0];
        out.kind = decision.kind;
        out.text.assign(decision.text.ptr, decision.text.len);
        out.places = decision.place_count;
        return out;
    }
    // Repeats the call until the answer isn't "try again". Sets `tries` to the number of calls.
    TestedStart await_test(uint64_t ticket, uint64_t job, uint64_t vnode = 0, bool explains = false) {
        for (tries = 1;; ++tries) {
            TestedStart out = test(ticket, job, vnode, explains);
            if (out.code != PBSE_TRYAGAIN) return out;
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
    }
    int tries = 0;
};

TEST_F(TestedStarts, SearchInTheThread) {
    const TestedStart found = await_test(7, 5);
    EXPECT_GT(tries, 1);
    EXPECT_EQ(found.code, 0);
    EXPECT_EQ(found.kind, PBS_DECIDE_RUN);
    EXPECT_EQ(found.places, 1U);
    EXPECT_EQ(test(0, 5).kind, PBS_DECIDE_RUN) << "without a ticket the call lasts until the answer";
    EXPECT_EQ(await_test(8, 999'999'999).code, PBSE_UNKJOBID);
    EXPECT_EQ(test(9, 5).code, PBSE_TRYAGAIN);
    host.plugin.abandon(host.plugin.self, 9);
    EXPECT_EQ(await_test(10, 6).kind, PBS_DECIDE_RUN) << "the one before was given up";
}

TEST_F(TestedStarts, AtAPlaceAreAnsweredAtOnceIfLittleHasChanged) {
    EXPECT_EQ(await_test(7, 5, 201).kind, PBS_DECIDE_RUN);
    EXPECT_GT(tries, 1) << "the first time";
    host.job({.handle = 6, .queue = kBatch, .state = 'R', .ncpus = 7, .vnode = 201});
    EXPECT_EQ(await_test(8, 5, 201).text,
              "Not Running: Insufficient amount of resource: ncpus (R: 2 A: 1 T: 8 on vnode n1)");
    EXPECT_EQ(tries, 1);
    host.vnode(202, "n2", 8);
    EXPECT_EQ(await_test(9, 5, 202).kind, PBS_DECIDE_RUN);
    EXPECT_GT(tries, 1) << "vnodes have changed";
}

// The place that the thread has found is taken before the host asks for it.
TEST_F(TestedStarts, SearchAgainIfTheirPlaceIsTaken) {
    host.vnode(202, "n2", 2);
    ASSERT_EQ(test(7, 5).code, PBSE_TRYAGAIN);
    await(1);
    host.job({.handle = 6, .queue = kBatch, .state = 'R', .ncpus = 8, .vnode = 201});
    const TestedStart found = await_test(7, 5);
    EXPECT_EQ(found.kind, PBS_DECIDE_RUN);
    EXPECT_GT(tries, 1);
    ASSERT_EQ(test(8, 5).code, PBSE_TRYAGAIN);
    await(3);
    host.job({.handle = 7, .queue = kBatch, .state = 'R', .ncpus = 2, .vnode = 202});
    const TestedStart refused = await_test(8, 5);
    EXPECT_EQ(refused.kind, PBS_DECIDE_COMMENT);
    EXPECT_THAT(refused.text, StartsWith("Not Running: "));
}

// The queue opens while the second search waits for the first one.
TEST_F(TestedStarts, GoByTheTimeAtWhichTheyAreMade) {
    ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_TIME_WINDOW, "evening",
                           {{"rrule", "FREQ=DAILY"}, {"start_time", "1700"}, {"end_time", "2300"}})
                  .code,
              0);
    ASSERT_EQ(host.set(PBS_OBJ_QUEUE, "batch", "time_window", "evening").code, 0);
    EXPECT_THAT(await_test(6, 5).text, HasSubstr("outside its time windows"));
    int before = host.works_finished;
    const auto ask_all = [&] {
        return test(7, 5).code == PBSE_TRYAGAIN && test(8, 5).code == PBSE_TRYAGAIN &&
               explain(9).code == PBSE_TRYAGAIN && host.works_finished == before;
    };
    // On a busy machine the thread may have made the first one before the others are asked.
    while (!ask_all()) {
        await_test(7, 5);
        await_test(8, 5);
        while (explain(9).code == PBSE_TRYAGAIN) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        before = host.works_finished;
    }
    await(before + 1);
    host.now = kMonday10 + 8 * 3600;
    EXPECT_EQ(await_test(8, 5).kind, PBS_DECIDE_RUN);
    Answer explained = explain(9);
    for (; explained.code == PBSE_TRYAGAIN; explained = explain(9))
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ASSERT_EQ(explained.code, 0) << explained.text;
    EXPECT_THAT(explained.value("reason"), Not(HasSubstr("outside its time windows")));
}

// The vnodes change during each test, so that none of the answers holds and the next test would be long, too.
TEST_F(TestedStarts, AreRefusedIfNoAnswerHolds) {
    TestedStart refused = test(7, 5, 201);
    for (uint64_t i = 1; refused.code == PBSE_TRYAGAIN; ++i) {
        await(static_cast<int>(i));
        host.vnode(300 + i, "m" + std::to_string(i), 8);
        refused = test(7, 5, 201);
    }
    EXPECT_EQ(host.works_finished, 5);
    EXPECT_EQ(refused.code, PBSE_OBJBUSY);
    EXPECT_EQ(refused.answer.text,
              "the start can't be tested: too much has changed during each of 5 tests; try again");
    EXPECT_EQ(await_test(8, 5, 201).kind, PBS_DECIDE_RUN);
}

TEST_F(TestedStarts, ExplainInTheThread) {
    const TestedStart explained = await_test(7, 5, 201, true);
    EXPECT_GT(tries, 1);
    EXPECT_EQ(explained.kind, PBS_DECIDE_RUN);
    EXPECT_EQ(explained.answer.value("outcome"), "starts");
    ASSERT_EQ(explained.answer.objects.size(), 2U);
    const TestedStart at_once = test(0, 5, 201, true);
    EXPECT_EQ(at_once.answer.objects.size(), 2U);
    EXPECT_EQ(at_once.answer.objects[1].attributes, explained.answer.objects[1].attributes);
}

TEST_F(Looks, TheHostGoesOnBesideALongOne) {
    many_jobs();
    ASSERT_EQ(
        host.manager(
                PBS_CMD_CREATE, PBS_OBJ_TIME_WINDOW, "office",
                {{"rrule", "FREQ=DAILY"}, {"start_time", "0800"}, {"end_time", "1700"}, {"type", "prime"}})
            .code,
        0);
    host.tick();
    const int64_t end_of_prime_time = kMonday10 + 7 * 3600;
    ASSERT_EQ(host.next_deadline(), end_of_prime_time);
    const Answer expected = explain(0);
    ASSERT_EQ(expected.code, 0);
    ASSERT_EQ(explain(7).code, PBSE_TRYAGAIN);
    EXPECT_EQ(host.next_deadline(), INT64_MAX) << "nothing is due meanwhile";
    EXPECT_EQ(host.tick(), 0u);
    EXPECT_EQ(host.attributes_of(PBS_OBJ_SCHED, "default").at("active_policy"), "default_policy");
    EXPECT_EQ(host.set(PBS_OBJ_POLICY, "default_policy", "backfill_depth", "3").code, 0);
    EXPECT_EQ(host.status(PBS_OBJ_POLICY, "default_policy").value("backfill_depth"), "3");
    host.job_removed(6);
    host.job({.handle = kMany + 1, .queue = kBatch});
    await(1);
    const Answer answer = explain(7);
    EXPECT_EQ(answer.code, 0) << answer.text;
    EXPECT_EQ(answer.value("jobs"), expected.value("jobs"));
    EXPECT_EQ(answer.value("place"), "5");
    EXPECT_EQ(host.next_deadline(), end_of_prime_time);
    EXPECT_EQ(explain(0, std::to_string(kMany + 1) + ".server1").code, 0) << "kept, and delivered";
    EXPECT_EQ(explain(0, "6.server1").code, PBSE_UNKJOBID);
}

TEST_F(Looks, AShortOneIsAnsweredAtOnce) {
    host.job({.handle = 5, .queue = kBatch});
    EXPECT_EQ(explain(7).code, 0);
    EXPECT_EQ(explain(7, "6.server1").code, PBSE_UNKJOBID);
    EXPECT_EQ(host.works_finished, 0);
}

TEST_F(Looks, AHostThatIsNotToldOfTheEndWaits) {
    many_jobs();
    host.host.work_finished = nullptr;
    EXPECT_EQ(explain(7).code, 0);
}

TEST_F(Looks, ACycleWaitsForALookAndThenComesFirst) {
    many_jobs();
    ASSERT_EQ(explain(7).code, PBSE_TRYAGAIN);
    ASSERT_EQ(explain(8).code, PBSE_TRYAGAIN);
    int32_t running = 0;
    ASSERT_EQ(start_cycle(running), PBSE_TRYAGAIN);
    await(1);
    ASSERT_EQ(start_cycle(running), 0);
    EXPECT_EQ(running, 1);
    EXPECT_EQ(explain(7).code, 0) << "the first one's answer is there";
    EXPECT_EQ(explain(8).code, PBSE_TRYAGAIN);
    EXPECT_EQ(host.works_finished, 1);
    EXPECT_EQ(host.finish_cycle().size(), kMany);
    // The end of the cycle makes the plugin begin the next explanation.
    await(2);
    ASSERT_EQ(start_cycle(running), 0);
    EXPECT_EQ(explain(8).code, 0);
    EXPECT_EQ(host.finish_cycle().size(), kMany);
}

TEST_F(Looks, UsersTakeTurns) {
    many_jobs();
    for (uint64_t ticket = 1; ticket <= 4; ++ticket)
        ASSERT_EQ(explain_as("alice", ticket).code, PBSE_TRYAGAIN);
    ASSERT_EQ(explain_as("bob", 5).code, PBSE_TRYAGAIN);
    std::vector<uint64_t> answered;
    for (int works = 1; works <= 5; ++works) {
        await(works);
        for (uint64_t ticket = 1; ticket <= 5; ++ticket) {
            if (std::ranges::find(answered, ticket) != answered.end()) continue;
            if (explain_as(ticket == 5 ? "bob" : "alice", ticket).code == 0) answered.push_back(ticket);
        }
    }
    ASSERT_EQ(answered.size(), 5U);
    EXPECT_EQ(answered[0], 1U);
    EXPECT_LE(std::ranges::find(answered, 5U) - answered.begin(), 2) << "not behind all four of the other";
}

TEST_F(Looks, WhatIsAbandonedLeavesNothing) {
    many_jobs();
    ASSERT_EQ(explain(7).code, PBSE_TRYAGAIN);
    ASSERT_EQ(explain(8).code, PBSE_TRYAGAIN);
    ASSERT_EQ(explain(9).code, PBSE_TRYAGAIN);
    host.plugin.abandon(host.plugin.self, 8);  // request 8 waits
    host.plugin.abandon(host.plugin.self, 7);  // request 7 is in progress
    host.plugin.abandon(host.plugin.self, 99);
    await(1);
    (void)explain(9);
    await(2);
    EXPECT_EQ(explain(9).code, 0);
    int32_t running = 0;
    ASSERT_EQ(start_cycle(running), 0);
    EXPECT_EQ(host.finish_cycle().size(), kMany);
}

TEST_F(Looks, StoppingEndsThem) {
    many_jobs();
    ASSERT_EQ(ask(7, PBS_OBJ_RECORD, "default").code, PBSE_TRYAGAIN);
    ASSERT_EQ(explain(8).code, PBSE_TRYAGAIN);
    host.stop();
    EXPECT_EQ(host.works_finished, 1);
}

TEST_F(Looks, ARecordComesInPartsAndIsTheSame) {
    many_jobs();
    int parts = 0;
    const std::string expected = record_at_once();
    EXPECT_GT(expected.size(), std::size_t{1} << 20);
    EXPECT_EQ(record(7, parts), expected);
    EXPECT_GT(parts, 4);
    EXPECT_EQ(ask(7, PBS_OBJ_RECORD, "default", "offset=0").code, PBSE_IVALREQ) << "read to its end";
}

TEST_F(Looks, RecordsThatNobodyReadsKeepOthersOut) {
    many_jobs();
    for (uint64_t ticket = 1; ticket <= 5; ++ticket)
        ASSERT_EQ(ask(ticket, PBS_OBJ_RECORD, "default").code, PBSE_TRYAGAIN);
    for (int works = 1; works <= 4; ++works) {
        await(works);
        (void)ask(5, PBS_OBJ_RECORD, "default");
    }
    EXPECT_EQ(ask(5, PBS_OBJ_RECORD, "default").code, PBSE_TRYAGAIN);
    EXPECT_EQ(host.works_finished, 4) << "the fifth waits";
    ASSERT_EQ(explain(6).code, PBSE_TRYAGAIN);
    await(5);
    EXPECT_EQ(explain(6).code, 0) << "an explanation doesn't";
    host.plugin.abandon(host.plugin.self, 2);
    int parts = 0;
    EXPECT_THAT(record(5, parts), HasSubstr("{\"end\":{"));
}

TEST_F(Looks, ARecordThatTheDiskDoesNotTake) {
    many_jobs();
    std::filesystem::rename(host.home() / "server_priv", host.home() / "elsewhere");
    ASSERT_EQ(ask(7, PBS_OBJ_RECORD, "default").code, PBSE_TRYAGAIN);
    await(1);
    const Answer answer = ask(7, PBS_OBJ_RECORD, "default");
    EXPECT_EQ(answer.code, PBSE_SYSTEM);
    EXPECT_THAT(answer.text, StartsWith("a record can't be kept: "));
    EXPECT_THAT(answer.text, HasSubstr("No such file or directory"));
    std::filesystem::rename(host.home() / "elsewhere", host.home() / "server_priv");
    int parts = 0;
    EXPECT_THAT(record(8, parts), HasSubstr("{\"end\":{"));
}

TEST_F(Looks, TheNextCycleIsRecordedInItsThread) {
    host.cycle();
    many_jobs();
    EXPECT_EQ(ask(7, PBS_OBJ_RECORD, "default", "next").value("cycles"), "1");
    int32_t running = 0;
    ASSERT_EQ(start_cycle(running), 0);
    ASSERT_EQ(running, 1);
    EXPECT_EQ(ask(8, PBS_OBJ_RECORD, "default", "after=1").value("cycles"), "2") << "not there yet";
    const auto decided = host.finish_cycle();
    EXPECT_EQ(decided.size(), kMany);
    int parts = 0;
    const std::string text = record(9, parts, "after=1");
    EXPECT_THAT(text, HasSubstr("\"trigger\":\"command\""));
    EXPECT_THAT(text, HasSubstr("{\"end\":{\"jobs_considered\":20000"));
    EXPECT_GT(parts, 4);
    EXPECT_EQ(ask(10, PBS_OBJ_RECORD, "default", "after=1").value("cycles"), "2") << "it was fetched";
    // Requests during the cycle were for the record of that cycle. Only the request after it asks for the
    // record of the next cycle.
    host.now += 31;
    ASSERT_EQ(start_cycle(running), 0);
    (void)host.finish_cycle();
    EXPECT_EQ(ask(11, PBS_OBJ_RECORD, "default", "after=2").value("cycles"), "3");
}

TEST_F(Looks, ARecordOfTheNextCycleThatNobodyFetchesGoes) {
    (void)ask(7, PBS_OBJ_RECORD, "default", "next");
    host.cycle();
    host.now += 31;
    (void)host.next_deadline();
    EXPECT_EQ(ask(8, PBS_OBJ_RECORD, "default", "after=0").value("cycles"), "1");
}

}  // namespace
}  // namespace pbs::plugin_test

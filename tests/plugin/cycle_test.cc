// Tests cycles through the plugin's C interface: events, decisions, and switches of policies by tick().
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "ifl/pbs_error.h"
#include "objects/draft.h"
#include "objects/store.h"
#include "tests/plugin/fake_host.h"

namespace pbs::plugin_test {
namespace {
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr uint64_t kSpecial = 103;

class Cycle : public ::testing::Test {
  protected:
    void SetUp() override {
        host.bring_up();
        host.queue(kSubmit, "submit");
        host.queue(kBatch, "batch", 8, 12 * 3600);
        host.queue(kSpecial, "special");
        policy({{"algorithm", "origin"},
                {"submit_queue", "submit"},
                {"batch_queues", "batch"},
                {"special_queue", "special"},
                {"sort_by_past_usage", "False"},
                {"avoid_fragmentation", "False"}});
        host.vnode(kVnode, "n1", 8);
    }

    void policy(const std::vector<Change>& changes) {
        const Answer done = host.manager(PBS_CMD_SET, PBS_OBJ_POLICY, "default_policy", changes);
        ASSERT_EQ(done.code, 0) << done.text;
    }
    void prime_window() {
        const Answer made = host.manager(PBS_CMD_CREATE, PBS_OBJ_TIME_WINDOW, "office",
                                         {{"rrule", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"},
                                          {"start_time", "0800"},
                                          {"end_time", "1700"},
                                          {"type", "prime"}});
        ASSERT_EQ(made.code, 0) << made.text;
    }
    // Runs a cycle. Returns the jobs that it starts, in the order of the decisions.
    std::vector<uint64_t> started(int32_t trigger = PBS_SCH_SCHEDULE_CMD) {
        std::vector<uint64_t> jobs;
        for (const Decision& decision : host.cycle(trigger)) {
            if (decision.kind == PBS_DECIDE_RUN) jobs.push_back(decision.job);
        }
        return jobs;
    }
    std::string comment_of(uint64_t job) {
        for (const Decision& decision : host.cycle()) {
            if (decision.job == job && decision.kind == PBS_DECIDE_COMMENT) return decision.text;
        }
        return "(none)";
    }

    FakeHost host;
};

TEST_F(Cycle, RunsAJobOfTheSubmitQueueInTheBatchQueue) {
    host.job({.handle = 1, .queue = kSubmit});
    const auto decisions = host.cycle(PBS_SCH_SCHEDULE_NEW);
    ASSERT_THAT(decisions, SizeIs(1));
    EXPECT_EQ(decisions[0].kind, PBS_DECIDE_RUN);
    EXPECT_EQ(decisions[0].job, 1u);
    EXPECT_EQ(decisions[0].queue, kBatch);
    EXPECT_THAT(decisions[0].vnodes, ElementsAre(kVnode));
    EXPECT_THAT(decisions[0].text, StartsWith("Started on Mon Nov 23 10:00:00 2026"));
}

TEST_F(Cycle, SpecialQueueComesFirst) {
    host.job({.handle = 1, .queue = kSubmit});
    host.job({.handle = 2, .queue = kSpecial});
    EXPECT_THAT(started(), ElementsAre(2, 1));
}

TEST_F(Cycle, AJobThatFitsNoQueueIsRejected) {
    host.job({.handle = 1, .queue = kSubmit, .ncpus = 64});
    const auto decisions = host.cycle();
    ASSERT_THAT(decisions, SizeIs(1));
    EXPECT_EQ(decisions[0].kind, PBS_DECIDE_REJECT);
    EXPECT_FALSE(decisions[0].text.empty());
}

TEST_F(Cycle, AWaitingJobIsToldWhy) {
    host.job({.handle = 1, .queue = kSubmit, .ncpus = 8});
    host.job({.handle = 2, .queue = kSubmit, .ncpus = 8});
    const auto decisions = host.cycle();
    ASSERT_THAT(decisions, SizeIs(2));
    EXPECT_EQ(decisions[0].kind, PBS_DECIDE_RUN);
    EXPECT_EQ(decisions[1].kind, PBS_DECIDE_COMMENT);
    EXPECT_EQ(decisions[1].job, 2u);
    EXPECT_FALSE(decisions[1].text.empty());
}

// The decisions that comment on jobs come in the order of the jobs' handles, because the host stores jobs in
// this order, in memory and in its database.
TEST_F(Cycle, ManyCommentsComeInTheOrderOfTheJobs) {
    constexpr uint64_t kJobs = 10'050;
    for (uint64_t job = 1; job <= kJobs; ++job)
        host.job(
            {.handle = job, .queue = kSubmit, .ncpus = 8, .ctime = kMonday10 - static_cast<int64_t>(job)});
    std::vector<uint64_t> told;
    for (const Decision& decision : host.cycle())
        if (decision.kind == PBS_DECIDE_COMMENT) told.push_back(decision.job);
    EXPECT_THAT(told, SizeIs(kJobs - 1));
    EXPECT_TRUE(std::ranges::is_sorted(told));
}

TEST_F(Cycle, ARunningJobHoldsItsShareUntilItIsGone) {
    host.job({.handle = 1, .queue = kBatch, .state = 'R', .ncpus = 8, .vnode = kVnode});
    host.job({.handle = 2, .queue = kSubmit, .ncpus = 8});
    EXPECT_THAT(started(), IsEmpty());
    host.job_removed(1);
    EXPECT_THAT(started(PBS_SCH_SCHEDULE_TERM), ElementsAre(2));
}

TEST_F(Cycle, AChangeIsInForceInTheNextCycle) {
    host.job({.handle = 1, .queue = kSubmit});
    ASSERT_EQ(host.manager(PBS_CMD_UNSET, PBS_OBJ_SCHED, "default", {{"policy", ""}}).code, 0);
    const auto without = host.cycle();
    ASSERT_THAT(without, SizeIs(1));
    EXPECT_EQ(without[0].queue, kSubmit) << "the defaults of PBS know of no submit queue";
    ASSERT_EQ(host.set(PBS_OBJ_SCHED, "default", "policy", "default_policy").code, 0);
    const auto with = host.cycle(PBS_SCH_CONFIGURE);
    ASSERT_THAT(with, SizeIs(1));
    EXPECT_EQ(with[0].queue, kBatch);
}

TEST_F(Cycle, PrimeTimeLimitEndsWithPrimeTime) {
    prime_window();
    policy({{"enforce_prime_time", "True"}, {"prime_time_wallt_limit", "02:00:00"}});
    host.now = kMonday10 + 6 * 3600;  // 16:00, an hour before the end
    host.job({.handle = 1, .queue = kSubmit, .walltime = 4 * 3600});
    EXPECT_THAT(started(), ElementsAre(1)) << "only an hour of it is in prime time";

    host.now = kMonday10;
    host.job({.handle = 2, .queue = kSubmit, .walltime = 4 * 3600});
    EXPECT_EQ(comment_of(2), "Exceeds primetime walltime limit (02:00:00)");
}

TEST_F(Cycle, APolicySwitchIsDueAtTheBoundary) {
    prime_window();
    ASSERT_EQ(host.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, "night",
                           {{"algorithm", "origin"}, {"submit_queue", "submit"}, {"batch_queues", "batch"}})
                  .code,
              0);
    ASSERT_EQ(host.set(PBS_OBJ_SCHED, "default", "policy", "default_policy,np:night").code, 0);
    host.tick();
    const int64_t five = kMonday10 + 7 * 3600;
    EXPECT_EQ(host.next_deadline(), five);
    host.now = five - 1;
    EXPECT_EQ(host.tick(), static_cast<uint32_t>(PBS_WANT_NOTHING)) << "early is harmless";
    host.now = five;
    EXPECT_EQ(host.tick(), static_cast<uint32_t>(PBS_WANT_CYCLE | PBS_WANT_POLICY_SWITCH));
    EXPECT_EQ(host.plugin.wanted(host.plugin.self, {"default", 7}),
              static_cast<uint32_t>(PBS_WANT_CYCLE | PBS_WANT_POLICY_SWITCH));
    EXPECT_EQ(host.plugin.wanted(host.plugin.self, {"other", 5}), static_cast<uint32_t>(PBS_WANT_NOTHING));
    EXPECT_EQ(host.attributes_of(PBS_OBJ_SCHED, "default")["active_policy"], "night");
    EXPECT_TRUE(host.logged("night"));
    EXPECT_EQ(host.tick(), static_cast<uint32_t>(PBS_WANT_NOTHING)) << "once";
}

TEST_F(Cycle, PrimeAndNonPrimeOrderDiffer) {
    prime_window();
    policy({{"enforce_prime_time", "True"}, {"prime_time_wallt_limit", "12:00:00"}});
    host.queue(kBatch, "batch", 8, 48 * 3600);
    host.job({.handle = 1, .queue = kSubmit, .ncpus = 2, .walltime = 600});
    host.job({.handle = 2, .queue = kSubmit, .ncpus = 4, .walltime = 1200});
    EXPECT_THAT(started(), ElementsAre(1, 2)) << "prime time: short first";
    host.now = kMonday10 + 10 * 3600;
    host.tick();
    EXPECT_THAT(started(PBS_SCH_POLICY_SWITCH), ElementsAre(2, 1)) << "non-prime time: large first";
}

TEST_F(Cycle, TestOnlyDecidesNothingAndSaysWhatItWould) {
    policy({{"test_only", "True"}});
    host.job({.handle = 1, .queue = kSubmit});
    EXPECT_THAT(host.cycle(), IsEmpty());
    EXPECT_TRUE(host.logged("1.server1"));
}

TEST_F(Cycle, DumpsTheSortedList) {
    policy({{"sorted_job_dumpfile", "sortedjobs"}});
    host.job({.handle = 1, .queue = kSubmit});
    host.cycle();
    EXPECT_THAT(host.read("sched_priv/output/sortedjobs"), HasSubstr("1.server1"));
    struct stat info {};
    ASSERT_EQ(stat((host.home() / "sched_priv/output/sortedjobs").c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0600u);
}

TEST_F(Cycle, ADumpFileElsewhereIsRefused) {
    for (const char* elsewhere : {"/tmp/pbs-plugin-test-sortedjobs", "../sortedjobs", "holidays/x"}) {
        const Answer done = host.set(PBS_OBJ_POLICY, "default_policy", "sorted_job_dumpfile", elsewhere);
        EXPECT_EQ(done.code, PBSE_BADATVAL) << elsewhere;
        EXPECT_THAT(done.text, HasSubstr("written in the folder output below sched_priv and nowhere else"));
    }
}

TEST_F(Cycle, ADumpFileThatCanNotBeWrittenIsNamedOnce) {
    std::filesystem::create_directories(host.home() / "sched_priv/output/of_somebody_else");
    policy({{"sorted_job_dumpfile", "sortedjobs"}});
    host.job({.handle = 1, .queue = kSubmit});
    host.cycle();
    host.cycle();
    EXPECT_EQ(std::count_if(
                  host.log.begin(), host.log.end(),
                  [](const std::string& line) { return line.find("isn't written") != std::string::npos; }),
              1);
    EXPECT_FALSE(std::filesystem::exists(host.home() / "sched_priv/output/sortedjobs"));
}

// An earlier version of the server accepted such a path, so a store may have one.
TEST(StoredOutputFile, ElsewhereIsLeftAloneAndTold) {
    const FakeHost folder;
    {
        FakeHost host(folder.home());
        host.bring_up();
    }
    folder.write("server_priv/precious", "precious");
    const std::string path = (folder.home() / "server_priv/precious").string();
    {
        const std::chrono::sys_seconds now{std::chrono::seconds(kMonday10)};
        auto store = objects::Store::open((folder.home() / "server_priv/policy.db").string(), {}, now);
        ASSERT_TRUE(store) << store.error().message;
        objects::Rewrite rewrite;
        rewrite.command = "an earlier version";
        rewrite.work = [&](objects::Draft& draft, const objects::CheckContext&,
                           std::vector<std::string>&) -> objects::Result<void> {
            objects::Object policy = *draft.find(objects::ObjectType::policy, "default_policy");
            for (const auto& [name, value] :
                 {std::pair<std::string, std::string>("schedule_log", path), {"sorted_job_dumpfile", path}}) {
                const auto* attribute = objects::find_attribute(objects::ObjectType::policy, name);
                policy.assign(*attribute, objects::parse_value(*attribute, value).value());
            }
            draft.put(policy);
            return {};
        };
        ASSERT_TRUE(store->rewrite(rewrite, {"root", "server1", objects::root_privilege}, now));
    }
    FakeHost host(folder.home());
    host.bring_up();
    host.queue(kBatch, "batch", 8, 12 * 3600);
    host.vnode(kVnode, "n1", 8);
    host.job({.handle = 1, .queue = kBatch});
    EXPECT_THAT(host.cycle(), SizeIs(1));
    EXPECT_EQ(host.read("server_priv/precious"), "precious");
    EXPECT_TRUE(host.logged("schedule_log has no effect: '" + path + "' is not the name of a file alone"));
    EXPECT_THAT(host.attributes_of(PBS_OBJ_SCHED, "default")["unsupported_settings"],
                HasSubstr("sorted_job_dumpfile has no effect"));
    EXPECT_EQ(host.status(PBS_OBJ_POLICY, "default_policy").value("schedule_log"), path);
}

TEST_F(Cycle, UnknownSchedulersDecideNothing) {
    host.job({.handle = 1, .queue = kSubmit});
    pbs_cycle_request request{};
    request.size = sizeof request;
    request.now = host.now;
    request.sched = {"other", 5};
    request.trigger = PBS_SCH_SCHEDULE_CMD;
    pbs_cycle_result result{};
    result.size = sizeof result;
    int32_t running = 0;
    ASSERT_EQ(host.plugin.start_cycle(host.plugin.self, &request, &running), 0);
    EXPECT_EQ(host.plugin.finish_cycle(host.plugin.self, host.now, &result), 0);
    EXPECT_EQ(result.decision_count, 0u);
    ASSERT_EQ(host.plugin.start_cycle(host.plugin.self, &request, &running), 0);
    result.size = 8;
    EXPECT_EQ(host.plugin.finish_cycle(host.plugin.self, host.now, &result), PBSE_INTERNAL)
        << "no room for the result";
    request.size -= 8;
    EXPECT_EQ(host.plugin.start_cycle(host.plugin.self, &request, &running), PBSE_INTERNAL);
}

TEST_F(Cycle, RecordsThatCanNotBeReadAreNamedInTheLog) {
    pbs_job_record record{};
    record.size = 8;
    host.plugin.job_changed(host.plugin.self, host.now, &record);
    record.size = sizeof record;
    record.requested_count = 3;  // a number of amounts without an array
    host.plugin.job_changed(host.plugin.self, host.now, &record);
    pbs_resource_record resource{};
    resource.size = sizeof resource;
    resource.kind = 99;
    host.plugin.resource_defined(host.plugin.self, &resource);
    EXPECT_EQ(std::count_if(
                  host.log.begin(), host.log.end(),
                  [](const std::string& line) { return line.find("can't be read") != std::string::npos; }),
              3);
    EXPECT_THAT(host.cycle(), IsEmpty());
}

// The number of jobs from which on a cycle surely runs in a thread.
constexpr uint64_t kMany = 20'000;

void many_jobs(FakeHost& host) {
    for (uint64_t i = 1; i <= kMany; ++i)
        host.job({.handle = i, .queue = kSubmit, .ncpus = static_cast<int64_t>(1 + i % 4)});
}

TEST_F(Cycle, RequestsAndEventsGoOnBesideALongOne) {
    many_jobs(host);
    const auto expected = host.cycle();
    ASSERT_TRUE(host.start_cycle());
    EXPECT_EQ(host.next_deadline(), INT64_MAX) << "nothing is due while it runs";
    EXPECT_EQ(host.tick(), 0u);
    const auto shown = host.attributes_of(PBS_OBJ_SCHED, "default");
    EXPECT_EQ(shown.at("active_policy"), "default_policy");
    policy({{"special_queue", ""}, {"batch_queues", "special"}});
    EXPECT_EQ(host.status(PBS_OBJ_POLICY, "default_policy").value("batch_queues"), "special");
    host.queue(104, "later");
    EXPECT_EQ(host.set(PBS_OBJ_POLICY, "default_policy", "dedicated_queues", "later").code, 0)
        << "the queue is known at once";
    host.vnode(202, "n2", 8);
    host.job_removed(1);
    host.job({.handle = kMany + 1, .queue = kSubmit});
    EXPECT_EQ(host.finish_cycle(), expected);
    EXPECT_EQ(host.cycles_finished, 1);

    // The next cycle takes into account the changes that were made during the last one.
    ASSERT_TRUE(host.start_cycle());
    const auto after = host.finish_cycle();
    ASSERT_FALSE(after.empty());
    EXPECT_EQ(after[0].kind, PBS_DECIDE_RUN);
    EXPECT_EQ(after[0].queue, kSpecial);
    EXPECT_TRUE(std::ranges::any_of(after, [](const Decision& d) {
        return d.kind == PBS_DECIDE_RUN && d.vnodes == std::vector<uint64_t>{202};
    }));
    EXPECT_TRUE(std::ranges::none_of(after, [](const Decision& d) { return d.job == 1; }));
}

TEST_F(Cycle, AShortOneIsOverAtOnce) {
    host.job({.handle = 1, .queue = kSubmit});
    EXPECT_FALSE(host.start_cycle());
    EXPECT_THAT(host.finish_cycle(), SizeIs(1));
    EXPECT_EQ(host.cycles_finished, 0);
}

TEST_F(Cycle, TheNextOneDecidesAnewAfterItsDecisionsAreForgotten) {
    host.plugin.forget_decisions(host.plugin.self);
    host.job({.handle = 1, .queue = kSubmit});
    host.start_cycle();
    EXPECT_THAT(host.finish_cycle(), SizeIs(1));
    host.plugin.forget_decisions(host.plugin.self);
    host.job({.handle = 2, .queue = kSubmit});
    host.start_cycle();
    const auto decided = host.finish_cycle();
    EXPECT_TRUE(std::ranges::any_of(decided, [](const Decision& d) { return d.job == 2; }));
}

TEST_F(Cycle, AnExplanationWaitsForALongOne) {
    many_jobs(host);
    ASSERT_TRUE(host.start_cycle());
    EXPECT_EQ(host.status(PBS_OBJ_EXPLANATION, "5.server1").code, 0);
    EXPECT_EQ(host.finish_cycle().size(), kMany);
}

TEST_F(Cycle, StoppingWaitsForALongOne) {
    many_jobs(host);
    ASSERT_TRUE(host.start_cycle());
    host.stop();
    EXPECT_EQ(host.cycles_finished, 1);
}

TEST_F(Cycle, AHostThatIsNotToldOfTheEndWaitsForIt) {
    many_jobs(host);
    const auto expected = host.cycle();
    host.host.cycle_finished = nullptr;
    EXPECT_TRUE(host.start_cycle());
    EXPECT_EQ(host.finish_cycle(), expected);
    EXPECT_EQ(host.cycles_finished, 0);
}

// ---- place_job(): a place for one job.

TEST_F(Cycle, APlaceForAJobThatAnOperatorWantsStarted) {
    host.job({.handle = 1, .queue = kBatch, .state = 'R', .ncpus = 6, .vnode = kVnode});
    host.job({.handle = 2, .queue = kSubmit, .state = 'H'});
    host.job({.handle = 3, .queue = kSubmit, .ncpus = 4});
    int32_t code = -1;
    const auto fits = host.place_job(2, code);
    ASSERT_TRUE(fits) << code;
    EXPECT_EQ(fits->kind, PBS_DECIDE_RUN);
    EXPECT_EQ(fits->job, 2u);
    EXPECT_EQ(fits->queue, kSubmit);
    EXPECT_THAT(fits->vnodes, ElementsAre(kVnode));
    const auto waits = host.place_job(3, code);
    ASSERT_TRUE(waits) << code;
    EXPECT_EQ(waits->kind, PBS_DECIDE_COMMENT);
    EXPECT_EQ(waits->text, "Not Running: Insufficient amount of resource: ncpus (R: 4 A: 2 T: 8)");
    EXPECT_FALSE(host.place_job(4, code));
    EXPECT_EQ(code, PBSE_UNKJOBID);
}

TEST_F(Cycle, APlaceIsToldWhenALongOneIsOverAndItsDecisionsStay) {
    many_jobs(host);
    const auto expected = host.cycle();
    ASSERT_TRUE(host.start_cycle());
    int32_t code = -1;
    EXPECT_FALSE(host.place_job(5, code));
    EXPECT_EQ(code, PBSE_TRYAGAIN);
    pbs_cycle_result result{};
    result.size = sizeof result;
    ASSERT_EQ(host.plugin.finish_cycle(host.plugin.self, host.now, &result), 0);
    ASSERT_EQ(result.decision_count, expected.size());
    EXPECT_TRUE(host.place_job(5, code)) << code;
    for (std::size_t i = 0; i < expected.size(); i += 997) {
        EXPECT_EQ(result.decisions[i].job, expected[i].job);
        EXPECT_EQ(std::string(result.decisions[i].text.ptr, result.decisions[i].text.len), expected[i].text);
    }
}

TEST_F(Cycle, APlaceIsNotLookedForInRecordsOfAnotherSize) {
    pbs_place_request request{sizeof request - 1, host.now, 1, 0};
    pbs_cycle_result result{};
    result.size = sizeof result;
    EXPECT_EQ(host.plugin.place_job(host.plugin.self, &request, &result), PBSE_INTERNAL);
    request.size = sizeof request;
    result.size = sizeof result + 8;
    EXPECT_EQ(host.plugin.place_job(host.plugin.self, &request, &result), PBSE_INTERNAL);
    EXPECT_EQ(host.plugin.place_job(host.plugin.self, nullptr, nullptr), PBSE_INTERNAL);
}

// ---- Kinds of decisions that a host gets only if it says that it takes them (pbs_takes).

class Takes : public Cycle {
  protected:
    // Runs a cycle for a host that takes these kinds of decisions.
    pbs_cycle_result cycle_for(uint64_t takes) {
        pbs_cycle_request request{};
        request.size = sizeof request;
        request.now = host.now;
        request.sched = {"default", 7};
        request.trigger = PBS_SCH_SCHEDULE_CMD;
        request.takes = takes;
        pbs_cycle_result result{};
        result.size = sizeof result;
        int32_t running = 0;
        EXPECT_EQ(host.plugin.start_cycle(host.plugin.self, &request, &running), 0);
        EXPECT_EQ(host.plugin.finish_cycle(host.plugin.self, host.now, &result), 0);
        return result;
    }
};

TEST_F(Takes, EstimatesAreForHostsThatTakeThem) {
    policy({{"algorithm", "standard"}, {"strict_ordering", "True"}, {"backfill_depth", "1"}});
    host.job({.handle = 1, .queue = kBatch, .state = 'R', .ncpus = 8, .walltime = 3600, .vnode = kVnode});
    host.job({.handle = 2, .queue = kBatch, .ncpus = 8});
    const auto estimates = [&](uint64_t takes) {
        const pbs_cycle_result result = cycle_for(takes);
        std::vector<std::pair<uint64_t, int64_t>> told;
        for (std::size_t i = 0; i < result.decision_count; ++i)
            if (result.decisions[i].kind == PBS_DECIDE_ESTIMATE) {
                EXPECT_EQ(result.decisions[i].place_count, 1U);
                told.emplace_back(result.decisions[i].job, result.decisions[i].start);
            }
        return told;
    };
    EXPECT_THAT(estimates(0), IsEmpty());
    EXPECT_THAT(estimates(PBS_TAKES_ESTIMATES),
                ElementsAre(std::pair<uint64_t, int64_t>(2, host.now + 3600)));
    EXPECT_THAT(estimates(PBS_TAKES_ESTIMATES), IsEmpty()) << "once";
}

TEST_F(Takes, ChunksAreDividedForHostsThatTakePieces) {
    policy({{"algorithm", "standard"}});
    host.vnode(kVnode, "n1", 4, 65536, "h");
    host.vnode(kVnode + 1, "n2", 4, 65536, "h");
    host.job({.handle = 1, .queue = kBatch, .ncpus = 6});
    struct Piece {
        uint64_t vnode;
        int64_t ncpus;
        int joined;
        bool operator==(const Piece&) const = default;
    };
    const auto pieces = [&](uint64_t takes) {
        const pbs_cycle_result result = cycle_for(takes);
        std::vector<Piece> given;
        for (std::size_t i = 0; i < result.decision_count; ++i) {
            const pbs_decision& decision = result.decisions[i];
            if (decision.kind != PBS_DECIDE_RUN) continue;
            for (std::size_t p = 0; p < decision.place_count; ++p) {
                const pbs_place& place = decision.places[p];
                given.push_back({place.vnode, place.amounts[0].number, decision.joined[p]});
            }
        }
        return given;
    };
    EXPECT_THAT(pieces(PBS_TAKES_ESTIMATES), IsEmpty());
    EXPECT_THAT(pieces(PBS_TAKES_PIECES), ElementsAre(Piece{kVnode, 4, 0}, Piece{kVnode + 1, 2, 1}));
}

// ---- The record of the next cycle, for clients that wait for it.

class RecordOfNext : public Cycle {
  protected:
    Answer ask(const std::string& extend) {
        pbs_status_request request{};
        request.size = sizeof request;
        request.now = host.now;
        request.object_type = PBS_OBJ_RECORD;
        request.object_name = {"default", 7};
        request.who = host.who;
        request.extend = {extend.data(), extend.size()};
        return host.status(request);
    }
    static std::string text_of(const Answer& answer) { return answer.value("text"); }
};

TEST_F(RecordOfNext, IsMadeOfACycleThatBeginsAfterItWasAskedFor) {
    (void)host.cycle();
    const Answer first = ask("next");
    EXPECT_EQ(first.value("cycles"), "1");
    EXPECT_EQ(ask("after=1").value("cycles"), "1") << "not yet";
    host.job({.handle = 1, .queue = kSubmit});
    EXPECT_THAT(started(PBS_SCH_SCHEDULE_NEW), ElementsAre(1)) << "the cycle isn't disturbed";
    const std::string record = text_of(ask("after=1"));
    EXPECT_THAT(record, StartsWith("{\"pbspolicy_record\":"));
    EXPECT_THAT(record, HasSubstr("\"trigger\":\"job_new\""));
    EXPECT_THAT(record, HasSubstr("{\"run\":"));
    EXPECT_EQ(ask("after=1").value("text"), "(none)") << "it was fetched";
}

TEST_F(RecordOfNext, IsNotMadeForSomebodyWhoStoppedAsking) {
    (void)ask("next");
    host.now += 31;
    (void)host.cycle();
    EXPECT_EQ(ask("after=0").value("cycles"), "1");
    (void)host.cycle();
    EXPECT_NE(text_of(ask("after=0")), "(none)");
}

TEST_F(RecordOfNext, WrongOptionsAndWrongUsers) {
    for (const char* extend : {"after=", "after=x", "after=-1", "nxt", "next=1"})
        EXPECT_EQ(ask(extend).code, PBSE_IVALREQ) << extend;
    host.who.privilege = PBS_PRIV_NONE;
    EXPECT_EQ(ask("next").code, PBSE_PERM);
    EXPECT_EQ(ask("after=0").code, PBSE_PERM);
}

}  // namespace
}  // namespace pbs::plugin_test

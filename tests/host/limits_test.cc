// Limits on users, groups and projects, at the server: how they are set, and which jobs are refused.

#include "server_plugin/host/limits.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ifl/pbs_error.h"
#include "server_plugin/host/state.h"

namespace pbs::host {
namespace {

using testing::HasSubstr;

std::string value(Result<std::string> result) {
    return result ? *result : "error " + std::to_string(result.error().code);
}

TEST(Limits, AreAddedReplacedAndTakenAway) {
    using enum ifl::Op;
    const std::string some = "[g:staff=5],[o:PBS_ALL=9],[u:ann=3]";
    EXPECT_EQ(value(changed_limits(Type::integer, "", "[u:ann=3],[o:PBS_ALL=9],[g:staff=5]", set)), some);
    EXPECT_EQ(value(changed_limits(Type::integer, some, "[u:bob=1]", set)), "[u:bob=1]");
    EXPECT_EQ(value(changed_limits(Type::integer, some, "[u:bob=1],[u:ann=4]", incr)),
              "[g:staff=5],[o:PBS_ALL=9],[u:ann=4],[u:bob=1]");
    EXPECT_EQ(value(changed_limits(Type::integer, some, "[u:ann]", decr)), "[g:staff=5],[o:PBS_ALL=9]");
    EXPECT_EQ(value(changed_limits(Type::integer, some, "[u:ann=4],[u:zoe]", decr)), some);
    EXPECT_EQ(value(changed_limits(Type::integer, "[u:ann=3]", "[u:ann=3]", decr)), "");
    EXPECT_EQ(value(changed_limits(Type::size, "[u:ann=1024kb]", "[u:ann=1mb]", decr)), "") << "as amounts";
}

TEST(Limits, MistakesAreRefused) {
    using enum ifl::Op;
    for (const char* text : {"5", "[u:ann]", "[u:ann=x]", "[u:ann=1.5]", "[u:ann=1],[u:ann=2]", "[u:ann=-1]"})
        EXPECT_EQ(value(changed_limits(Type::integer, "", text, set)), "error 15014") << text;
}

TEST(Limits, ThereAreOnlySoManyInOneValue) {
    std::string many;
    for (int user = 0; user < 10'000; ++user) many += fmt::format("[u:u{:05}=1],", user);
    many.pop_back();
    EXPECT_EQ(value(changed_limits(Type::integer, "", many, ifl::Op::set)), many);
    EXPECT_EQ(value(changed_limits(Type::integer, many, "[u:ann=1]", ifl::Op::incr)), "error 15014");
}

struct Queued : testing::Test {
    State state;
    Queue queue;
    uint64_t next = 0;
    void SetUp() override {
        queue.handle = state.new_handle();
        queue.name = "q";
        state.put(queue);
    }
    Job job(std::string_view user, std::string_view group, std::string_view project, int cpus) {
        Job job;
        job.handle = state.new_handle();
        job.sequence = ++next;
        job.id = std::to_string(next) + ".svr";
        job.queue = queue.handle;
        job.queue_name = SharedText(queue.name);
        job.state = job_state::kQueued;
        for (const auto& [name, text] :
             {std::pair("euser", user), std::pair("egroup", group), std::pair("project", project)})
            job.attributes.set(*job_table().find(name), {}, std::string(text));
        job.attributes.set(*job_table().find("Resource_List"), "ncpus", std::to_string(cpus));
        return job;
    }
    void set(const char* name, const char* text, const char* resource = "") {
        queue.attributes.set(*queue_table().find(name), resource, text);
        state.put(queue);
    }
    void set_server(const char* name, const char* text, const char* resource = "") {
        state.server.set(*server_table().find(name), resource, text);
    }
    std::string refusal(const Job& job) const {
        if (const auto ok = within_queued_jobs(job, queue, state); !ok)
            return std::to_string(ok.error().code) + " " + ok.error().message;
        if (const auto ok = within_queued_amounts(job, queue, state); !ok)
            return std::to_string(ok.error().code) + " " + ok.error().message;
        return {};
    }
};

TEST_F(Queued, JobsAreRefusedWithOpenPBSsWords) {
    state.put(job("ann", "staff", "x", 2));
    const Job next_one = job("ann", "staff", "x", 2);
    struct Case {
        const char* limit;
        const char* of_queue;
        const char* of_server;
    };
    for (const Case& c : {
             Case{"[o:PBS_ALL=1]", "Maximum number of jobs already in queue q",
                  "Maximum number of jobs already in complex"},
             Case{"[u:ann=1]", "Maximum number of jobs for user ann already in queue q",
                  "Maximum number of jobs for user ann already in complex"},
             Case{"[u:PBS_GENERIC=1]", "would exceed queue q's per-user limit",
                  "would exceed complex's per-user limit"},
             Case{"[g:staff=1]", "Maximum number of jobs for group staff already in queue q",
                  "Maximum number of jobs for group staff already in complex"},
             Case{"[g:PBS_GENERIC=1]", "would exceed queue q's per-group limit",
                  "would exceed complex's per-group limit"},
             Case{"[p:x=1]", "Maximum number of jobs for project x already in queue q",
                  "Maximum number of jobs for project x already in complex"},
             Case{"[p:PBS_GENERIC=1]", "would exceed queue q's per-project limit",
                  "would exceed complex's per-project limit"},
         }) {
        set("max_queued", c.limit);
        EXPECT_EQ(refusal(next_one), std::string("15142 ") + c.of_queue);
        queue.attributes.unset(*queue_table().find("max_queued"), {});
        set_server("max_queued", c.limit);
        EXPECT_EQ(refusal(next_one), std::string("15142 ") + c.of_server);
        state.server.unset(*server_table().find("max_queued"), {});
    }
    set("queued_jobs_threshold", "[u:ann=1]");
    EXPECT_EQ(refusal(next_one), "15142 Maximum number of jobs in 'Q' state for user ann already in queue q");
    set("queued_jobs_threshold", "[u:PBS_GENERIC=1]");
    EXPECT_EQ(refusal(next_one), "15142 would exceed queue q's per-user limit of jobs in 'Q' state");
}

TEST_F(Queued, AmountsAreRefusedWithOpenPBSsWords) {
    state.put(job("ann", "staff", "x", 2));
    const Job next_one = job("ann", "staff", "x", 2);
    set("max_queued_res", "[o:PBS_ALL=3]", "ncpus");
    EXPECT_EQ(refusal(next_one), "15143 would exceed limit on resource ncpus in queue q");
    set("max_queued_res", "[u:ann=3]", "ncpus");
    EXPECT_EQ(refusal(next_one), "15143 would exceed user ann's limit on resource ncpus in queue q");
    set("max_queued_res", "[g:PBS_GENERIC=3]", "ncpus");
    EXPECT_EQ(refusal(next_one), "15143 would exceed per-group limit on resource ncpus in queue q");
    set("max_queued_res", "[p:PBS_GENERIC=4],[u:ann=4]", "ncpus");
    EXPECT_EQ(refusal(next_one), "");
    set_server("queued_jobs_threshold_res", "[p:x=3]", "ncpus");
    EXPECT_EQ(refusal(next_one),
              "15143 would exceed project x's limit on resource ncpus in complex for jobs in 'Q' state");
}

TEST_F(Queued, OnlyThoseThatDoNotRunCountForThresholds) {
    Job runs = job("ann", "staff", "x", 2);
    state.put(runs);
    set("queued_jobs_threshold", "[u:ann=1]");
    const Job next_one = job("ann", "staff", "x", 2);
    EXPECT_NE(refusal(next_one), "");
    runs.state = job_state::kRunning;
    state.put(runs);
    EXPECT_EQ(refusal(next_one), "");
    runs.state = job_state::kFinished;
    state.put(runs);
    set("max_queued", "[u:ann=1]");
    EXPECT_EQ(refusal(next_one), "") << "history counts nowhere";
}

// A job that is altered counts as it will be, in the place of what it is.
TEST_F(Queued, AJobThatIsThereCountsOnce) {
    Job one = job("ann", "staff", "x", 2);
    state.put(one);
    set("max_queued_res", "[u:ann=4]", "ncpus");
    one.attributes.set(*job_table().find("Resource_List"), "ncpus", "4");
    EXPECT_EQ(refusal(one), "");
    one.attributes.set(*job_table().find("Resource_List"), "ncpus", "5");
    EXPECT_THAT(refusal(one), HasSubstr("would exceed user ann's limit"));
}

TEST_F(Queued, OldAndNewStylesDoNotMix) {
    const auto code = [&](const char* name, const Attributes& own) {
        const auto ok = check_limit_styles(name, own, state);
        return ok ? 0 : ok.error().code;
    };
    set_server("max_run", "[u:ann=1]");
    Attributes own;
    own.set(*queue_table().find("max_user_run"), {}, "3");
    EXPECT_EQ(code("max_user_run", own), PBSE_MIXENTLIMS);
    EXPECT_EQ(code("max_running", own), 0) << "isn't set";
    state.server = {};
    set_server("max_queued", "[u:ann=1]");
    EXPECT_EQ(code("max_user_run", own), 0) << "as in OpenPBS";
    set_server("max_running", "5");
    Attributes other;
    other.set(*queue_table().find("max_queued"), {}, "[u:ann=1]");
    EXPECT_EQ(code("max_queued", other), PBSE_MIXENTLIMS);
}

}  // namespace
}  // namespace pbs::host

// Tests the server's limits on users, groups and projects: how they are set, and which jobs are refused.

#include "server_plugin/host/state/limits.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "ifl/pbs_error.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/state/state.h"
#include "tests/host/server_fixture.h"

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
    Job job(std::string_view user, std::string_view group, std::string_view project, std::int64_t cpus) {
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
        CountedJobs counted(state);
        if (const auto ok = within_queued_jobs(job, queue, counted); !ok)
            return std::to_string(ok.error().code) + " " + ok.error().message;
        if (const auto ok = within_queued_amounts(job, queue, counted); !ok)
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

// The sum of the requests is more than a number of 64 bits holds. When jobs leave, it is exact again.
TEST_F(Queued, AmountsOfAnySizeAreAddedUp) {
    constexpr std::int64_t kVeryMany = 1'000'000'000'000'000'000;
    constexpr int kJobs = 20;
    set("max_queued_res", "[u:ann=9200000000000000000]", "ncpus");
    std::vector<Job> jobs;
    for (int i = 0; i < kJobs; ++i) {
        jobs.push_back(job("ann", "staff", "x", kVeryMany));
        state.put(jobs.back());
    }
    const Job next_one = job("ann", "staff", "x", kVeryMany);
    EXPECT_THAT(refusal(next_one), HasSubstr("would exceed user ann's limit"));
    for (int i = 0; i < kJobs - 9; ++i) state.erase_job(jobs[static_cast<size_t>(i)].handle);
    EXPECT_THAT(refusal(next_one), HasSubstr("would exceed user ann's limit")) << "nine are left";
    state.erase_job(jobs[kJobs - 9].handle);
    EXPECT_EQ(refusal(next_one), "");
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

// When a job is altered, its new request counts in place of its present one.
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

// Makes random changes, each of which submits, moves and deletes several jobs. Compares the outcomes with a
// plain list of the jobs: a job is accepted exactly if no limit is exceeded by it and the jobs as the change
// has left them so far.
class LimitsOfChanges : public ServerTest {
  protected:
    struct Limit {
        std::string queue;  // empty: the server
        std::string attribute;
        char kind;
        std::string name;
        int64_t most;

        bool threshold() const { return attribute.starts_with("queued_jobs"); }
        bool of_cpus() const { return attribute.ends_with("_res"); }
        std::string text() const { return fmt::format("{} {} {}:{}={}", queue, attribute, kind, name, most); }
    };

    int pick(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
    template <class List>
    auto one_of(const List& list) {
        return list[static_cast<size_t>(pick(0, static_cast<int>(std::size(list)) - 1))];
    }

    // Sets random limits. The limits of one attribute are together in its value.
    void set_limits() {
        std::map<std::pair<std::string, std::string>, std::string> values;
        std::set<std::string> known;
        limits_.clear();
        for (int count = pick(1, 6); count > 0; --count) {
            Limit limit{one_of(std::array<std::string, 3>{"a", "b", ""}),
                        one_of(std::array<std::string, 4>{"max_queued", "queued_jobs_threshold",
                                                          "max_queued_res", "queued_jobs_threshold_res"}),
                        one_of(std::string("ougp")), "", pick(0, 9)};
            limit.name = limit.kind == 'o' ? "PBS_ALL"
                         : pick(0, 1) == 0 ? "PBS_GENERIC"
                                           : fmt::format("{}1", limit.kind);
            if (!known.insert(fmt::format("{} {} {}{}", limit.queue, limit.attribute, limit.kind, limit.name))
                     .second)
                continue;
            std::string& value = values[{limit.queue, limit.attribute}];
            value +=
                fmt::format("{}[{}:{}={}]", value.empty() ? "" : ",", limit.kind, limit.name, limit.most);
            limits_.push_back(limit);
        }
        for (const char* name : {"a", "b"}) {
            Queue queue = *server_->state.queue(name);
            for (const char* attribute :
                 {"max_queued", "queued_jobs_threshold", "max_queued_res", "queued_jobs_threshold_res"})
                queue.attributes.unset(*queue_table().find(attribute), {});
            queue.attributes.unset(*queue_table().find("max_queuable"), {});
            max_queuable_.erase(name);
            if (pick(0, 2) == 0) {
                max_queuable_[name] = pick(0, 5);
                queue.attributes.set(*queue_table().find("max_queuable"), {},
                                     std::to_string(max_queuable_[name]));
            }
            server_->state.put(queue);
        }
        for (const char* attribute :
             {"max_queued", "queued_jobs_threshold", "max_queued_res", "queued_jobs_threshold_res"})
            server_->state.server.unset(*server_table().find(attribute), {});
        for (const auto& [where, value] : values) {
            const char* resource = where.second.ends_with("_res") ? "ncpus" : "";
            if (where.first.empty()) {
                server_->state.server.set(*server_table().find(where.second), resource, value);
                continue;
            }
            Queue queue = *server_->state.queue(where.first);
            queue.attributes.set(*queue_table().find(where.second), resource, value);
            server_->state.put(queue);
        }
    }

    Job new_job() {
        Job job;
        job.handle = server_->state.new_handle();
        job.sequence = job.handle;
        job.id = fmt::format("{}.svr", job.handle);
        for (const auto& [name, kind] :
             {std::pair("euser", 'u'), std::pair("egroup", 'g'), std::pair("project", 'p')})
            job.attributes.set(*job_table().find(name), {}, fmt::format("{}{}", kind, pick(1, 2)));
        job.attributes.set(*job_table().find("Resource_List"), "ncpus", std::to_string(pick(1, 3)));
        if (pick(0, 3) == 0) {
            const IndexRange range{0, pick(0, 2), 1};
            job.subjobs = std::make_shared<const Subjobs>(Subjobs{range, IndexSet(range)});
        }
        return job;
    }

    static int64_t cpus(const Job& job) {
        return amount_of(Type::integer, job.attributes.text("Resource_List", "ncpus"));
    }
    static int64_t amount(const Job& job, const Limit& limit) {
        const int64_t count = job.is_array() ? job.subjobs->queued.count() : 1;
        return limit.of_cpus() ? count * cpus(job) : count;
    }
    static std::string entity(const Job& job, char kind) {
        if (kind == 'o') return "PBS_ALL";
        return std::string(job.attributes.text(kind == 'u' ? "euser" : kind == 'g' ? "egroup" : "project"));
    }
    // Returns whether the limit applies to the job. A limit for the job's own entity replaces the generic
    // one.
    bool concerns(const Limit& limit, const Job& job) const {
        const std::string whose = entity(job, limit.kind);
        if (limit.name == whose) return true;
        return limit.name == "PBS_GENERIC" && std::ranges::none_of(limits_, [&](const Limit& other) {
                   return other.queue == limit.queue && other.attribute == limit.attribute &&
                          other.kind == limit.kind && other.name == whose;
               });
    }
    // Returns whether the job fits, computed from the list of jobs. The server's limits on numbers of jobs
    // apply to new jobs only.
    bool fits(const Job& job, const std::string& queue, bool is_new) const {
        const uint64_t handle = server_->state.queue(queue)->handle;
        if (const auto most = max_queuable_.find(queue); most != max_queuable_.end()) {
            const auto there = std::ranges::count_if(jobs_, [&](const auto& one) {
                return one.first != job.handle && one.second.queue == handle;
            });
            if (there >= most->second) return false;
        }
        return std::ranges::all_of(limits_, [&](const Limit& limit) {
            if (!limit.queue.empty() && limit.queue != queue) return true;
            if (limit.queue.empty() && !limit.of_cpus() && !is_new) return true;
            if (!concerns(limit, job)) return true;
            int64_t sum = amount(job, limit);
            for (const auto& [other, there] : jobs_) {
                if (other == job.handle || entity(there, limit.kind) != entity(job, limit.kind)) continue;
                if (!limit.queue.empty() && there.queue != handle) continue;
                if (limit.threshold() && there.running()) continue;
                sum += amount(there, limit);
            }
            return sum <= limit.most;
        });
    }

    std::mt19937 random_;
    std::vector<Limit> limits_;
    std::map<std::string, int> max_queuable_;
    std::map<uint64_t, Job> jobs_;  // by handle
};

TEST_F(LimitsOfChanges, CountWhatTheChangeHasDone) {
    make_queue("a");
    make_queue("b");
    std::map<bool, int> outcomes;
    for (int round = 0; round < 150; ++round) {
        random_.seed(static_cast<unsigned>(round));
        set_limits();
        const std::map<uint64_t, Job> before = jobs_;
        Change change(*server_, server_->now());
        std::string done;
        for (int step = pick(1, 10); step > 0; --step) {
            const bool is_new = jobs_.empty() || pick(0, 1) == 0;
            Job job = is_new ? new_job()
                             : std::next(jobs_.begin(), pick(0, static_cast<int>(jobs_.size()) - 1))->second;
            if (!is_new && pick(0, 4) == 0) {
                done += fmt::format("- {}\n", job.id);
                change.remove(job);
                jobs_.erase(job.handle);
                continue;
            }
            if (job.running()) continue;
            const std::string queue = one_of(std::array<std::string, 2>{"a", "b"});
            const bool known = before.contains(job.handle);
            const bool expected = fits(job, queue, !known);
            const auto entered = enter_fitted(change, job, *server_->state.queue(queue), Entry::submitted);
            done +=
                fmt::format("{} {} -> {}: {}\n", known ? "move" : "new", job.id, queue, entered.has_value());
            std::string limits;
            for (const Limit& limit : limits_) limits += limit.text() + "\n";
            ASSERT_EQ(entered.has_value(), expected) << "round " << round << "\n" << limits << done;
            ++outcomes[expected];
            if (!expected) continue;
            jobs_[job.handle] = job;
            change.put(job);
        }
        for (const auto& [handle, job] : before)
            if (!jobs_.contains(handle)) server_->state.erase_job(handle);
        for (auto& [handle, job] : jobs_) {
            if (!job.is_array() && pick(0, 9) == 0) job.state = job_state::kRunning;
            server_->state.put(job);
        }
    }
    EXPECT_GT(outcomes[true], 100);
    EXPECT_GT(outcomes[false], 100);
}

}  // namespace
}  // namespace pbs::host

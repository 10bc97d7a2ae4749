// Tests queues for prime and non-prime time. pbs_sched knows such queues by the prefix of their names, the
// plugin by execution_type.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "tests/openpbs/site.h"

namespace pbs::e2e {
namespace {
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::chrono::seconds kWaits{40};
constexpr const char* kQueues[] = {"p_short", "np_long", "workq"};

// A holidays file with which it is never prime time.
constexpr const char* kNeverPrime = "YEAR 2026\\nweekday none all\\nsaturday none all\\nsunday none all\\n";

class OpenpbsPrime : public AttachedSite {
  protected:
    void SetUp() override { make_site(); }  // tests attach the plugin
    // Starts the server with pbs_sched, these queues and this holidays file, without the plugin.
    void start_stock(const std::string& holidays) const {
        site->ok(fmt::format("printf '{}' > /var/spool/pbs/sched_priv/holidays", holidays));
        site->start();
        EXPECT_TRUE(site->wait_for_node());
        site->ok(
            "$stock/qmgr -c 'set node box resources_available.ncpus = 8'; for q in p_short np_long; do "
            "$stock/qmgr -c \"create queue $q queue_type=execution,enabled=True,started=True\"; done");
    }
    void attach() const {
        site->stop();
        site->install(std::string(GetParam()) + " --scheduler");
        site->start_with_plugin();
        EXPECT_TRUE(site->wait_for_node());
    }
    std::string submit(const std::string& queue) const {
        return stripped(site->ok(
            "cd /; echo sleep 600 | $stock/qsub -o /dev/null -e /dev/null -l select=1:ncpus=1 -q " + queue,
            "una"));
    }
    std::string attribute(const std::string& job, const std::string& name) const {
        return attribute_in(site->sh("$stock/qstat -fw '" + job + "' 2>/dev/null").out, name);
    }
    // Returns "R" or the reason why the job waits, without the instant at which the wait ends.
    std::string outcome(const std::string& job) const {
        std::string out;
        EXPECT_TRUE(wait_for(
            [&] {
                const std::string comment = attribute(job, "comment");
                const auto begins = comment.find("Job will run in");
                out = attribute(job, "job_state") == "R" ? "R" : "";
                if (begins != std::string::npos)
                    out = comment.substr(begins, comment.find(" only", begins) + 5 - begins);
                return !out.empty();
            },
            kWaits))
            << job << ": " << attribute(job, "comment");
        return out;
    }
    // Submits a job to each queue. Returns the outcome of each job, by queue.
    std::map<std::string, std::string> outcomes() const {
        std::map<std::string, std::string> out;
        std::string all;
        for (const char* queue : kQueues) {
            const std::string job = submit(queue);
            out[queue] = outcome(job);
            all += " " + job;
        }
        site->sh("$stock/qdel -W force" + all);
        return out;
    }
    std::string list(const std::string& object) const {
        return site->ok("$ours/qmgr -c 'list " + object + "'");
    }
};

TEST_P(OpenpbsPrime, JobsOfPrimeQueuesWaitAsWithPbsSched) {
    start_stock(kNeverPrime);
    const auto before = outcomes();
    EXPECT_EQ(before.at("p_short"), "Job will run in primetime only");
    attach();
    EXPECT_EQ(outcomes(), before);
    EXPECT_THAT(site->ok("cat /var/spool/pbs/server_priv/migration_report"),
                AllOf(HasSubstr("queue p_short execution_type = execution_prime"),
                      HasSubstr("queue np_long execution_type = execution_non_prime")));
    EXPECT_EQ(attribute_in(list("queue p_short"), "execution_type"), "execution_prime");
    EXPECT_EQ(attribute_in(list("queue np_long"), "execution_type"), "execution_non_prime");
    EXPECT_EQ(attribute_in(list("sched default"), "prime_time"), "False");
    // The outcomes are the same after a restart.
    site->stop();
    site->start_with_plugin();
    EXPECT_TRUE(site->wait_for_node());
    EXPECT_EQ(outcomes(), before);
}

// Like this one, OpenPBS's own holidays file has no year.
TEST_P(OpenpbsPrime, WithoutAYearItIsAlwaysPrimeTime) {
    start_stock("weekday 0600 1730\\nsaturday none all\\nsunday none all\\n1 Jan 1 New Year\\n");
    const auto before = outcomes();
    EXPECT_EQ(before.at("np_long"), "Job will run in nonprimetime only");
    attach();
    EXPECT_EQ(outcomes(), before);
    EXPECT_EQ(attribute_in(list("sched default"), "prime_time"), "True");
    EXPECT_EQ(attribute_in(list("time_window prime_time"), "rrule"), "FREQ=DAILY");
}

TEST_P(OpenpbsPrime, AManagerSetsTheExecutionTypeOfAQueue) {
    site->install(std::string(GetParam()) + " --scheduler");
    site->start_with_plugin();
    EXPECT_TRUE(site->wait_for_node());
    const auto accept = [&](const std::string& directive) {
        const Output done = site->qmgr(directive);
        EXPECT_EQ(done.exit, 0) << directive << ": " << done;
    };
    const std::string set = "set queue workq execution_type = execution_prime";
    for (const char* user : {"una", "oscar"})
        EXPECT_THAT(site->refused("$ours/qmgr -c '" + set + "'", user), HasSubstr("15007"));
    accept(set);
    const std::string shown = "execution_type = execution_prime";
    EXPECT_THAT(list("queue workq"), HasSubstr(shown));
    EXPECT_THAT(site->stock_qmgr("list queue workq").out, HasSubstr(shown));
    EXPECT_THAT(site->ok("$stock/qstat -Qf workq"), HasSubstr(shown));
    EXPECT_THAT(list("queue workq execution_type"), HasSubstr(shown));
    EXPECT_THAT(site->ok("$ours/qmgr -c 'print queue workq'"), HasSubstr("set queue workq " + shown));
    const std::string waits = submit("workq");
    EXPECT_EQ(outcome(waits), "Job will run in primetime only");
    // A request with attributes of the server and of the plugin succeeds as a whole or not at all.
    EXPECT_NE(site->qmgr("set queue workq execution_type = execution_dedicated, Priority = x").exit, 0);
    EXPECT_NE(site->qmgr("set queue workq Priority = 7, execution_type = sometimes").exit, 0);
    EXPECT_THAT(list("queue workq"), AllOf(HasSubstr(shown), Not(HasSubstr("Priority = 7"))));
    accept("create queue away queue_type = route, route_destinations = workq");
    EXPECT_THAT(site->qmgr("set queue away execution_type = execution_prime").err,
                HasSubstr("for queue away of queue_type Route"));
    EXPECT_THAT(site->qmgr("set queue workq execution_type = route").err,
                HasSubstr("for queue workq of queue_type Execution"));
    accept("unset queue workq execution_type");
    EXPECT_THAT(list("queue workq"), Not(HasSubstr("execution_type")));
    EXPECT_EQ(outcome(waits), "R");
    // A new queue has no attributes of an earlier queue of the same name.
    accept("create queue again queue_type = execution, execution_type = execution_non_prime");
    EXPECT_THAT(list("queue again"), HasSubstr("execution_non_prime"));
    accept("delete queue again");
    accept("create queue again queue_type = execution");
    EXPECT_THAT(list("queue again"), Not(HasSubstr("execution_type")));
}

INSTANTIATE_TEST_SUITE_P(Attachments, OpenpbsPrime, kAttachments, attachment_name);

}  // namespace
}  // namespace pbs::e2e

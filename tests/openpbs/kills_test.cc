// Kills the server, or pbs_policyd if there is one, at random points, while jobs are submitted and run,
// objects are created and reservations are requested. Acknowledged requests aren't lost. Each job runs once,
// unless OpenPBS's server queues it again. Running jobs go on.
//
// PBSPOLICY_KILLS="KILLS SEED" sets the number of kills and the first seed; by default 3 and 1.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "tests/openpbs/site.h"

namespace pbs::e2e {
namespace {
using ::testing::HasSubstr;

// Shell scripts that loop until /tmp/over exists, each run by another user. The first two of them append a
// line to a file for each acknowledged request.
constexpr const char* kSubmits = R"(
until test -e /tmp/over; do
    id=$(echo 'echo $PBS_JOBID >> /tmp/una.ran; sleep 0.$RANDOM' | $stock/qsub -r n -o /dev/null -e /dev/null) &&
        echo $id >> /tmp/una.acknowledged
    sleep 0.05
done)";
constexpr const char* kMakes = R"(
i=0
until test -e /tmp/over; do
    i=$((i + 1))
    $ours/qmgr -c "create policy k$$x$i" && echo k$$x$i >> /tmp/alice.acknowledged
    $ours/qmgr -c "set policy k$$x$i backfill_depth = $i"
    $ours/qmgr -c "set queue workq Priority = $i"
done)";
constexpr const char* kReserves = R"(
until test -e /tmp/over; do
    start=$(date -d '+1 hour' +%H%M)
    id=$($stock/pbs_rsub -R $start -D 60 -l select=1:ncpus=1 | cut -d ' ' -f 1) && $stock/pbs_rdel $id
done)";

class OpenpbsKills : public AttachedSite {
  protected:
    void SetUp() override {
        if (!make_site()) return;
        site->install(options() + " --scheduler");
        site->start_with_plugin();
        ASSERT_TRUE(site->wait_for_node());
        ASSERT_EQ(site->qmgr("set node box resources_available.ncpus = 16").exit, 0);
        site->ok("touch /tmp/una.acknowledged /tmp/una.ran; chmod 666 /tmp/una.*");
        site->ok("touch /tmp/alice.acknowledged; chmod 666 /tmp/alice.*");
    }
    void begin(const char* what, const std::string& user) const {
        site->ok(fmt::format("cd /tmp; ({}\n) > /dev/null 2>&1 < /dev/null &", what), user);
    }
    // After some kills OpenPBS's mom has lost its connection to the server for good ("Bad file descriptor",
    // also without the plugin). Then starts another mom, which takes over the jobs.
    void wait_for_mom() const {
        if (site->wait_for_node()) return;
        site->ok(
            "kill $(cat /var/spool/pbs/mom_priv/mom.lock); while pgrep -x pbs_mom; do sleep 0.1; done; "
            "$(dirname $(readlink -f $stock))/sbin/pbs_mom -p");
        EXPECT_TRUE(site->wait_for_node());
    }
    enum class Victim { server, daemon, supervisor };
    // Returns the processes that the test may kill.
    std::vector<Victim> victims() const {
        if (options().empty()) return {Victim::server};
        return {Victim::server, Victim::daemon, Victim::supervisor};
    }
    void kill(Victim victim) const {
        if (victim == Victim::server) return site->kill_server();
        const std::string supervisor = "$(cat /var/spool/pbs/server_priv/policyd.pid)";
        site->ok("kill -9 " + (victim == Victim::supervisor ? supervisor : "$(pgrep -P " + supervisor + ")"));
    }
    // Waits until a successor of the killed process serves requests about policies. The supervisor itself
    // starts a killed daemon again. A killed server, and a killed supervisor, whose daemon ends with it, are
    // started here.
    void replace(Victim victim) const {
        if (victim == Victim::server) {
            site->start_with_plugin();
            wait_for_mom();
            return;
        }
        if (victim == Victim::supervisor)
            site->ok("while pgrep -x pbs_policyd; do sleep 0.1; done; $ours/pbs_policyd --daemon");
        EXPECT_TRUE(
            wait_for([&] { return site->qmgr("list policy @default").exit == 0; }, std::chrono::seconds(60)));
    }
    std::map<std::string, int> counted(const std::string& file) const {
        std::map<std::string, int> out;
        std::istringstream lines(site->ok("cat " + file));
        for (std::string line; std::getline(lines, line);) ++out[line];
        return out;
    }

    std::array<int, 3> killed_{};  // by Victim
};

TEST_P(OpenpbsKills, LoseNothingThatWasAcknowledged) {
    int kills = 3;
    unsigned seed = 1;
    if (const char* wanted = std::getenv("PBSPOLICY_KILLS")) std::istringstream(wanted) >> kills >> seed;
    // A job that runs during all kills.
    std::string steady = site->ok(
        "cd /; echo 'echo $$ >> /tmp/una.steady; sleep 36000' | $stock/qsub -o /dev/null -e /dev/null",
        "una");
    steady.erase(steady.find_last_not_of('\n') + 1);
    ASSERT_TRUE(
        wait_for([&] { return site->sh("test -s /tmp/una.steady").exit == 0; }, std::chrono::seconds(60)));
    for (int i = 0; i < kills; ++i) {
        SCOPED_TRACE(fmt::format("seed {}", seed + static_cast<unsigned>(i)));
        std::mt19937 random(seed + static_cast<unsigned>(i));
        const auto acknowledged = number_of(site->ok("cat /tmp/una.acknowledged | wc -l"));
        begin(kSubmits, "una");
        begin(kMakes, "alice");
        begin(kReserves, "oscar");
        // Wait until the submissions have begun, and then for a random time of at most 3 seconds.
        EXPECT_TRUE(
            wait_for([&] { return number_of(site->ok("cat /tmp/una.acknowledged | wc -l")) > acknowledged; },
                     std::chrono::seconds(60)));
        site->ok(fmt::format("sleep {:.3f}", std::uniform_real_distribution(0.0, 3.0)(random)));
        const auto possible = victims();
        const Victim victim = possible[random() % possible.size()];
        SCOPED_TRACE(fmt::format("victim {}", static_cast<int>(victim)));
        kill(victim);
        site->ok(
            "touch /tmp/over; "
            "while pgrep -u una,alice,oscar -f 'until test -e /tmp/over'; do sleep 0.1; done; rm /tmp/over");
        replace(victim);
        ++killed_[static_cast<std::size_t>(victim)];
        // Delete the reservations of the ended scripts, because they would keep jobs from running.
        site->ok("for r in $($stock/pbs_rstat -B | sed -n 's/^Resv ID: //p'); do $stock/pbs_rdel $r; done");
        const std::string policies = site->ok("$ours/qmgr -c 'list policy @default'");
        for (const auto& [name, times] : counted("/tmp/alice.acknowledged"))
            EXPECT_THAT(policies, HasSubstr("Policy " + name + "\n"));
        if (HasFailure()) break;
    }
    std::printf("kills: %d of servers, %d of pbs_policyd's daemons, %d of its supervisors\n", killed_[0],
                killed_[1], killed_[2]);
    // Wait until all jobs but `steady` have ended.
    const auto left = [&] { return number_of(site->ok("$stock/qstat | grep -c una || true")); };
    for (int before = left(); before > 1; before = left())
        if (!wait_for([&] { return left() < before; }, std::chrono::minutes(1))) break;
    // Delete jobs that can't run because they have no script. OpenPBS saves a job before its script, also
    // without the plugin, so a kill between the two leaves such a job. Each attempt to run it counts in its
    // run_count, although nothing starts and no S record is written.
    site->ok(
        "for job in $(grep -h 'Failed to load job script for job .* from' /var/spool/pbs/server_logs/* | sed "
        "'s/.*for job \\(.*\\) from.*/\\1/' | sort -u); do $stock/qdel -W force $job; done; true");
    // Delete jobs that OpenPBS had saved as about to run, but hadn't sent to the mom. They never leave this
    // state, also without the plugin.
    site->ok(
        "touch /tmp/stuck; for job in $(grep -h 'Requeueing job, substate: 41' /var/spool/pbs/server_logs/* "
        "| "
        "cut -d ';' -f 5 | sort -u); do if $stock/qstat -f $job | grep -q 'substate = 41'; then "
        "$stock/qdel -W force $job; echo $job >> /tmp/stuck; fi; done");
    const auto stuck = counted("/tmp/stuck");
    RecordProperty("stuck", static_cast<int>(stuck.size()));
    EXPECT_TRUE(wait_for([&] { return left() == 1; }, std::chrono::minutes(1)))
        << site->sh("$stock/qstat -fw | head -n 500").out;
    const auto ran = counted("/tmp/una.ran");
    // A job in una.acknowledged may never have been queued: OpenPBS's qsub prints its id even if the server
    // ends before it queues the job, also without the plugin.
    site->ok("grep -h 'Job Queued at request' /var/spool/pbs/server_logs/* | cut -d ';' -f 5 > /tmp/queued");
    const auto queued = counted("/tmp/queued");
    for (const auto& [job, times] : counted("/tmp/una.acknowledged"))
        EXPECT_TRUE(ran.contains(job) || stuck.contains(job) || !queued.contains(job)) << job << " is lost";
    for (const auto& [job, times] : stuck) EXPECT_FALSE(ran.contains(job)) << job << " was about to run";
    // OpenPBS 23.06.06 may have sent a job to the mom and have no answer yet. After a kill it queues such a
    // job again, although the mom runs it, and then rejects the job's end. It does so without the plugin,
    // too, and even if the job isn't rerunnable.
    site->ok(
        "grep -h 'Requeueing job, substate: 41 Requeued' /var/spool/pbs/server_logs/* | cut -d ';' -f 5 > "
        "/tmp/requeued; true");
    auto requeued = counted("/tmp/requeued");
    for (const auto& [job, times] : ran)
        EXPECT_LE(times, 1 + requeued[job]) << job << " ran more often than the server queued it";
    EXPECT_EQ(number_of(site->ok("wc -l < /tmp/una.steady")), 1) << "the job that ran was started again";
    EXPECT_EQ(site->sh("$stock/qstat " + steady + " | grep -q ' R '").exit, 0)
        << site->sh("$stock/qstat -fw " + steady).out;
}

INSTANTIATE_TEST_SUITE_P(Attachments, OpenpbsKills, kAttachments, attachment_name);

}  // namespace
}  // namespace pbs::e2e

// Tests jobs and reservations on a cluster, while hosts and links fail. The plugin, in the server or beside
// it, behaves like pbs_sched.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "tests/openpbs/cluster.h"
#include "values/text.h"

namespace pbs::e2e {
namespace {

constexpr std::chrono::seconds kUntilCutIsSeen{150};  // TCP's keepalive takes a minute

constexpr const char* kNoHost = "Q Not Running: Insufficient amount of resource: host";
constexpr const char* kTooFew = "Q Not Running: Not enough free nodes available";

class OpenpbsCluster : public ClusterSite {
  protected:
    // Waits until the file has these lines, in the order of sort(1).
    void expect_file(const std::string& host, const std::string& file, const std::string& text) const {
        std::string seen;
        EXPECT_TRUE(wait_for([&] { return (seen = on(host, "sort " + file).out) == text; }, kLong))
            << file << " of " << host << ": " << seen
            << on("h1", "tail -n 30 /var/spool/pbs/mom_logs/*", "root").out;
    }
    // Makes a reservation that begins in `seconds` from now. Returns its id.
    std::string reserve(int seconds, const std::string& options) const {
        const std::string id =
            site->ok(fmt::format("$stock/pbs_rsub -R $(date -d '+{} seconds' +%Y%m%d%H%M.%S) -D 60 {} | "
                                 "cut -d ' ' -f 1",
                                 seconds, options),
                     "una");
        return std::string(values::trim(id));
    }
    void expect_reservation(const std::string& id, const std::string& attribute,
                            const std::string& value) const {
        std::string seen;
        EXPECT_TRUE(wait_for(
            [&] {
                return (seen = attribute_in(site->sh("$stock/pbs_rstat -f " + id).out, attribute)) == value;
            },
            kLong))
            << id << ": " << attribute << " is " << seen << why("");
    }
};

TEST_P(OpenpbsCluster, AJobReachesAllItsHosts) {
    // The script writes to files, because the standard output of a task on any host goes to the job's output.
    site->ok("printf '#!/bin/sh\\nhostname >> $1\\n' > /var/tmp/who; chmod 755 /var/tmp/who");
    const std::string job = submit_script(
        ". /etc/pbs.conf; $PBS_EXEC/bin/pbsdsh -- /var/tmp/who /var/tmp/dsh\n"
        "for h in $(sort -u $PBS_NODEFILE); do $PBS_EXEC/bin/pbs_tmrsh $h /var/tmp/who /var/tmp/tmrsh; done\n"
        "sleep 1000",
        "-l select=3:ncpus=1 -l place=scatter");
    expect_outcome(job, "R h1 h2 h3");
    expect_file("h1", "/var/tmp/dsh", "h1\nh2\nh3\n");
    expect_file("h1", "/var/tmp/tmrsh", "h1\nh2\nh3\n");
    expect_outcome(submit("-l select=3:ncpus=2 -l place=scatter"),
                   "Q Not Running: Insufficient amount of resource: ncpus (R: 6 A: 3 T: 6)");
    expect_outcome(submit("-l select=4:ncpus=1 -l place=scatter"),
                   "Q Can Never Run: Not enough total nodes available");
    expect_outcome(submit("-l select=2:ncpus=1 -l place=scatter"), "R h1 h2");
    expect_outcome(submit("-l select=2:ncpus=1 -l place=scatter"), kTooFew);
    expect_outcome(submit("-l select=1:ncpus=1"), "R h3");
    expect_outcome(submit("-l select=1:ncpus=1"), kTooFew);
}

TEST_P(OpenpbsCluster, FilesAreStagedFromHostToHost) {
    on("h2", "echo in > /tmp/in");
    submit_script(
        "{ cat /tmp/in; hostname; } > /tmp/out",
        "-l select=1:ncpus=1:host=h1 -W stagein=/tmp/in@h2:/tmp/in -W stageout=/tmp/out@h3:/tmp/out");
    expect_file("h3", "/tmp/out", "h1\nin\n");
}

TEST_P(OpenpbsCluster, AHostWhoseMomIsKilledGetsNoJobsUntilItIsBack) {
    site->ok("$stock/qmgr -c 'set server node_fail_requeue = 5'");
    const std::string job = submit("-l select=2:ncpus=1:host=h2");
    const std::string other = submit("-l select=1:ncpus=1:host=h1+1:ncpus=1:host=h3");
    expect_outcome(job, "R h2 h2");
    expect_outcome(other, "R h1 h3");
    hosts("kill h2");
    expect_vnode("h2", "down");
    const std::string there = submit("-l select=1:ncpus=1:host=h2");
    const std::string wide = submit("-l select=3:ncpus=1 -l place=scatter");
    expect_outcome(there, kNoHost);
    expect_outcome(wide, kTooFew);
    expect_outcome(job, kNoHost);  // the server has queued it again
    expect_outcome(other, "R h1 h3");
    hosts("mom h2");
    expect_vnode("h2", "free");
    expect_outcome_of_cycles(job, "R h2 h2");
    expect_outcome(there, kNoHost);
    expect_outcome(wide, kTooFew);
}

TEST_P(OpenpbsCluster, AHostWhoseLinkIsCutGetsNoJobsUntilItIsBack) {
    site->ok("$stock/qmgr -c 'set server node_fail_requeue = 5'");
    const std::string job = submit("-l select=1:ncpus=1:host=h2");
    const std::string other = submit("-l select=1:ncpus=1:host=h1+1:ncpus=1:host=h3");
    expect_outcome(job, "R h2");
    expect_outcome(other, "R h1 h3");
    hosts("cut h2");
    expect_vnode("h2", "down", kUntilCutIsSeen);
    expect_outcome(submit("-l select=3:ncpus=1 -l place=scatter"), kTooFew);
    expect_outcome(job, kNoHost);
    expect_outcome(other, "R h1 h3");
    hosts("join h2");
    expect_vnode("h2", "free", kUntilCutIsSeen);
    expect_outcome_of_cycles(job, "R h2");
    expect_outcome(other, "R h1 h3");
}

TEST_P(OpenpbsCluster, AnOfflineHostGetsNoJobs) {
    site->ok("$stock/pbsnodes -o h2");
    const std::string there = submit("-l select=1:ncpus=1:host=h2");
    const std::string wide = submit("-l select=3:ncpus=1 -l place=scatter");
    expect_outcome(there, kNoHost);
    expect_outcome(wide, kTooFew);
    expect_outcome(submit("-l select=2:ncpus=1 -l place=scatter"), "R h1 h3");
    site->ok("$stock/pbsnodes -r h2");
    cycle();
    expect_outcome(there, "R h2");
    expect_outcome(wide, "R h1 h2 h3");
}

TEST_P(OpenpbsCluster, AHookRefusesRunsOnAHost) {
    site->ok(
        "$stock/qmgr -c 'create hook refuse event=runjob'; cat > /tmp/refuse.py <<'END'\n"
        "import pbs\n"
        "e = pbs.event()\n"
        "if 'h2' in str(e.job.exec_vnode): e.reject('h2 is refused')\n"
        "END\n"
        "$stock/qmgr -c 'import hook refuse application/x-python default /tmp/refuse.py'");
    const std::string there = submit("-l select=1:ncpus=1:host=h2");
    const std::string wide = submit("-l select=3:ncpus=1 -l place=scatter");
    expect_outcome(there, "Q Not Running: PBS Error: h2 is refused");
    expect_outcome(wide, "Q Not Running: PBS Error: h2 is refused");
    expect_outcome(submit("-l select=1:ncpus=1:host=h3"), "R h3");
    site->ok("$stock/qmgr -c 'set hook refuse enabled = False'");
    cycle();
    expect_outcome(there, "R h2");
    expect_outcome(wide, "R h1 h2 h3");
}

TEST_P(OpenpbsCluster, AReservationOfAllHosts) {
    const std::string id = reserve(60, "-l select=3:ncpus=1 -l place=scatter");
    expect_reservation(id, "reserve_state", "RESV_CONFIRMED");
    expect_reservation(id, "resv_nodes", "(h1:ncpus=1)+(h2:ncpus=1)+(h3:ncpus=1)");
    const std::string in = submit("-l select=3:ncpus=1 -l place=scatter -q " + id.substr(0, id.find('.')));
    expect_outcome(in, "Q Not Running: Queue not started.");
    expect_outcome(submit("-l select=3:ncpus=2 -l place=scatter -l walltime=1000"),
                   "Q Not Running: Job would conflict with reservation or top job");
    expect_outcome(submit("-l select=3:ncpus=1 -l place=scatter -l walltime=1000"), "R h1 h2 h3");
    expect_outcome(in, "R h1 h2 h3", std::chrono::seconds(90));
}

TEST_P(OpenpbsCluster, AReservationWhoseHostFailsGetsAnother) {
    site->ok("$stock/qmgr -c 'set server reserve_retry_time = 5'");
    const std::string id = reserve(300, "-l select=2:ncpus=1 -l place=scatter");
    expect_reservation(id, "resv_nodes", "(h1:ncpus=1)+(h2:ncpus=1)");
    hosts("kill h1");
    expect_reservation(id, "resv_nodes", "(h2:ncpus=1)+(h3:ncpus=1)");
    expect_reservation(id, "reserve_state", "RESV_CONFIRMED");
}

INSTANTIATE_TEST_SUITE_P(Schedulers, OpenpbsCluster, kSchedulers, scheduler_name);

}  // namespace
}  // namespace pbs::e2e

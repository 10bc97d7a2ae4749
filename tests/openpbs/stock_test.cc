// OpenPBS's own clients get the same answers with the plugin as without it, and our clients get along with a
// server that has no plugin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <regex>
#include <string>

#include "tests/openpbs/site.h"

namespace pbs::e2e {
namespace {
using ::testing::HasSubstr;

struct Step {
    const char* user;
    const char* script;
};

// Of every command of OpenPBS's, what succeeds and what is refused.
constexpr std::array kSteps{
    Step{"root", "qstat -B"},
    Step{"root", "qstat -Bf"},
    Step{"una", "qstat -Q; qstat -Qf; qstat -Qf workq; qstat -Q nowhere"},
    Step{"una", "qmgr -c 'list server'; qmgr -c 'print server'; qmgr -c 'list queue @default'"},
    Step{"una", "qmgr -c 'list queue workq enabled,started'; qmgr -c 'list queue workq nonsense'"},
    Step{"alice", "qmgr -c 'create queue q1 queue_type=execution,enabled=true,started=true'"},
    Step{"alice", "qmgr -c 'create queue q1 queue_type=execution'"},
    Step{"alice", "qmgr -c 'create queue q2 queue_type=nonsense'"},
    Step{"alice", "qmgr -c 'set queue q1 Priority=12,max_run=\"[u:PBS_GENERIC=5]\"'"},
    Step{"alice", "qmgr -c 'set queue q1 Priority=low'; qmgr -c 'set queue q1 nonsense=1'"},
    Step{"alice", "qmgr -c 'set queue q1 resources_max.walltime=10:00:00,resources_max.ncpus+=3'"},
    Step{"alice", "qmgr -c 'set queue q1 resources_max.ncpus-=1'; qmgr -c 'unset queue q1 resources_max'"},
    Step{"alice", "qmgr -c 'unset queue q1 resources_max.ncpus'; qmgr -c 'set queue @default Priority=1'"},
    Step{"oscar", "qmgr -c 'set queue q1 started=false'; qmgr -c 'set queue q1 acl_users+=una'"},
    Step{"oscar", "qmgr -c 'create queue q3'; qmgr -c 'delete queue q1'"},
    Step{"una", "qmgr -c 'set queue q1 started=true'; qmgr -c 'create queue q3'; qmgr -c 'delete queue q1'"},
    Step{"alice", "qmgr -c 'set server scheduling=false'; qmgr -c 'set server nonsense=false'"},
    Step{"alice", "qmgr -c 'set server comment=\"a, b and c\"'; qmgr -c 'unset server comment'"},
    Step{"alice", "qmgr -c 'set server managers+=bob@*'; qmgr -c 'set server managers-=bob@*'"},
    Step{"alice", "qmgr -c 'create resource r1 type=long,flag=hn'; qmgr -c 'create resource r1 type=long'"},
    Step{"alice", "qmgr -c 'set resource r1 flag=h'; qmgr -c 'list resource'; qmgr -c 'print resource r1'"},
    Step{"alice",
         "qmgr -c 'create node other'; qmgr -c 'set node other comment=\"x y\"'; qmgr -c 'set node box "
         "Priority=4'"},
    Step{"una", "pbsnodes -a; pbsnodes -v box; pbsnodes nowhere; pbsnodes -aSj"},
    Step{"oscar", "pbsnodes -o box; pbsnodes -r box; pbsnodes -C box 'a comment'"},
    Step{"alice",
         "qmgr -c 'create sched s2 partition=p2'; qmgr -c 'set sched s2 comment=x'; qmgr -c 'set sched "
         "default nonsense=1'"},
    Step{"alice",
         "qmgr -c 'set sched default scheduler_iteration=300'; qmgr -c 'delete sched s2'; qmgr -c 'delete "
         "sched s3'"},
    Step{"oscar", "qmgr -c 'set sched default scheduling=true'; qmgr -c 'unset sched default comment'"},
    Step{"root",
         "qmgr -c 'create hook h1'; qmgr -c 'set hook h1 event=queuejob'; qmgr -c 'list hook'; qmgr -c "
         "'delete hook h1'"},
    Step{"una", "qmgr -c 'create hook h2'; qmgr -c 'list pbshook'"},
    Step{"una", "echo sleep 100 | qsub -q workq -N one -l select=1:ncpus=1 -l walltime=100"},
    Step{"una",
         "echo sleep 100 | qsub -q workq -h -J 1-3; echo x | qsub -q nowhere; echo x | qsub -l nonsense=1"},
    Step{"una",
         "qstat; qstat -f 0 | grep -v -e time -e session -e exec -e Variable -e PBS_O; qstat -t '1[]'"},
    Step{"una",
         "qhold 0; qrls 0; qalter -N two 0; qalter -l walltime=50 0; qmove q1 0; qorder 0 1; qmsg 0 hello"},
    Step{"una",
         "qselect -u una; qselect -s H; qselect -q workq; tracejob 0 | head -n 2; qrun 0; qsig -s TERM 0"},
    Step{"oscar", "qrun 0; qrerun 0; qstat -f 99; qdel 99"},
    Step{"una", "pbs_rsub -R 2300 -D 00:10:00 -l select=1:ncpus=1; pbs_rstat; pbs_rdel R9"},
    Step{"una", "qdel 0; qdel '1[]'; qdel -x 0; qstat -x"},
    Step{"alice",
         "qmgr -c 'delete resource r1'; qmgr -c 'delete queue q1'; qmgr -c 'delete node other'; qmgr -c "
         "'delete queue nowhere'"},
    Step{"una", "qdisable workq; qstop workq; qterm"},
    Step{"oscar", "qdisable workq; qenable workq; qstop workq; qstart workq; qterm -t quick -x"},
    Step{"una", "qmgr -c 'set sched default policy=x,nonsense=1' | cat; pbs_hostn box"},
    Step{"root", "qmgr -c 'print server'; qmgr -c 'print node @default'; qmgr -c 'print sched'"},
};

// Without what is another at each time.
std::string comparable(std::string text) {
    text = std::regex_replace(
        text, std::regex("(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} +[0-9]+ [0-9:]+ [0-9]{4}"), "TIME");
    text = std::regex_replace(text, std::regex("[0-9]{2}/[0-9]{2}/[0-9]{4} [0-9:]+"), "TIME");
    text = std::regex_replace(
        text,
        std::regex("(last_state_change_time|last_used_time|reserve_[a-z]+|ctime|mtime|qtime|etime|stime|"
                   "eligible_time|license_count|used_by|state|last_[a-z_]+) = [^\n]*"),
        "$1");
    text = std::regex_replace(text, std::regex("Today [0-9:]+"), "TIME");
    return text;
}

class OpenpbsStock : public OpenpbsTest {
  protected:
    std::vector<std::string> answers(bool with_plugin) const {
        const Site site;
        if (with_plugin) {
            site.install();
            site.start_with_plugin();
        } else {
            site.start();
        }
        // Nothing starts by itself, so that what comes of a request doesn't depend on when.
        site.ok(
            "$stock/qmgr -c 'set server scheduling = False'; cd /; for i in $(seq 100); do "
            "$stock/qstat -B | grep -q Idle && exit 0; sleep 0.1; done; exit 1");
        std::vector<std::string> out;
        for (const Step& step : kSteps) {
            const Output output = site.sh(std::string("cd /\n") + step.script, step.user);
            out.push_back(comparable("exit " + std::to_string(output.exit) + "\n" + output.out + output.err));
        }
        return out;
    }
};

TEST_F(OpenpbsStock, EveryRequestIsAnsweredAsWithoutIt) {
    const std::vector<std::string> without = answers(false);
    const std::vector<std::string> with = answers(true);
    for (std::size_t i = 0; i < kSteps.size(); ++i)
        EXPECT_EQ(with[i], without[i]) << kSteps[i].script << " as " << kSteps[i].user;
}

// OpenPBS's server answers twice when it is asked for an attribute of a scheduler that it doesn't know, and
// ends.
TEST_F(OpenpbsStock, OurClientsAskAServerWithoutPolicies) {
    const Site site;
    site.start();
    const auto refused = [&](const std::string& command) {
        const Output output = site.sh("$ours/" + command, "una");
        EXPECT_NE(output.exit, 0) << command << ": " << output;
        return output.err;
    };
    for (const char* command :
         {"qmgr -c 'list policy @default'", "qmgr -c 'list policy p1 backfill_depth'",
          "qmgr -c 'print time_window @default'", "pbs_config history", "pbs_config export"})
        EXPECT_THAT(refused(command), HasSubstr("the server has no policies, time_windows and fs_groups"))
            << command;
    EXPECT_EQ(site.ok("$ours/qmgr -c 'list sched default policy,nonsense'"), "Sched default\n\n");
    EXPECT_EQ(site.ok("$ours/qmgr -c 'list sched default policy,scheduling'"),
              "Sched default\n    scheduling = True\n\n");
    EXPECT_THAT(refused("qmgr -c 'create policy p1'"), HasSubstr("15007"));
    site.ok("kill -0 $(cat /var/spool/pbs/server_priv/server.lock); $stock/qstat -B");
}

// Which the plugin keeps from every client.
TEST_F(OpenpbsStock, AnUnknownAttributeOfASchedulerEndsNoServerThatHasPolicies) {
    const Site site;
    site.install();
    site.start_with_plugin();
    EXPECT_EQ(
        site.ok("$ours/qmgr -c 'list sched default nonsense,scheduling,policy,partition' | tr -d '\\n'"),
        "Sched default    scheduling = True    partition = pbs-default    policy = default_policy");
    site.ok("kill -0 $(cat /var/spool/pbs/server_priv/server.lock); $stock/qstat -B");
}

}  // namespace
}  // namespace pbs::e2e

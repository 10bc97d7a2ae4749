// Tests that OpenPBS's clients get the same answers with the plugin as without it, and that this project's
// clients work with a server that has no plugin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <regex>
#include <string>

#include "tests/munged.h"
#include "tests/openpbs/site.h"

namespace pbs::e2e {
namespace {
using ::testing::HasSubstr;

struct Step {
    const char* user;
    const char* script;
};

// Runs OpenPBS's commands. Each command is run so that it succeeds, and so that it is refused.
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
    // The status of a requeued job depends on whether it had a session, so wait for the session.
    Step{"oscar",
         "qrun 0; for i in $(seq 100); do qstat -f 0 | grep -q session_id && break; sleep 0.1; done; "
         "qrerun 0; qstat -f 99; qdel 99"},
    Step{"una", "pbs_rsub -R 2300 -D 00:10:00 -l select=1:ncpus=1; pbs_rstat; pbs_rdel R9"},
    Step{"una",
         "echo sleep 100 | qsub -h -q workq -A acct -a 12312359 -c n -j oe -k oe -m abe -M una@box -N all -o "
         "/tmp -p 5 -r n "
         "-S /bin/sh -u una -v A=1,B=2 -V -W umask=077,block=false -l select=2:ncpus=1:mem=1mb,place=scatter "
         "-l walltime=1:00:00 -P project"},
    Step{"una",
         "echo x | qsub -z -h; qsub -I -h < /dev/null; echo x | qsub -W depend=afterok:0 -W "
         "depend=no:0"},
    Step{"una",
         "echo x | qsub -l select=nonsense; echo x | qsub -l ncpus=-1; echo x | qsub -l walltime=x; qsub -Q; "
         "echo x | qsub -p 5000; echo x | qsub -a 9; echo x | qsub -J 3-1; echo x | qsub -h -- /bin/true"},
    Step{"oscar", "qrun -H box 1; qrun -H nowhere 0; qstat 1"},
    Step{"una",
         "for f in -a -i -r -H -x -n '-n -1' -s '-s -1' -w -aw -T -E -p -t '-u una' '-u nobody' -G -M -q '-a "
         "-G' '-f -w'; do "
         "qstat $f | grep -v -e time -e session -e Variable -e PBS_O; done"},
    Step{"una",
         "qstat -f -F json; qstat -f -F dsv; qstat -Q -f -F json; qstat -B -f -F json; qstat -B -f -F dsv -D "
         ","},
    Step{
        "una",
        "qstat -Bf nowhere; qstat @nowhere; qstat 9999; qstat nonsense; qstat workq; qstat q1@box; qstat -Z"},
    Step{"una",
         "for f in '' -x '-N one' '-l ncpus.gt.0' '-p 0' '-c n' '-h u' '-r y' '-s QHRW' '-t .lt.99999999' "
         "'-A acct' "
         "'-P project' -T -J '-a 12312359' '-q q1' '-u una' -z '-l mem.ge.1mb' '-s Z'; do qselect $f; done"},
    Step{"una",
         "for f in '-a 01010101' '-A other' '-c s' '-e /tmp/e' '-h o' '-h u' '-h n' '-j n' '-k n' '-l "
         "mem=2mb' '-m n' '-M x' "
         "'-o /tmp/o' '-p 7' '-p 9999' '-P other' '-r y' '-S /bin/bash' '-u una' '-v C=3' '-W umask=022' '-W "
         "nonsense=1' "
         "'-l select=1:ncpus=99' '-l nonsense=1' '-N 1bad'; do qalter $f 2; done; qalter -l walltime=9 99"},
    Step{"oscar", "qalter -p 3 2; qalter -h s 2; qhold -h so 2; qrls -h s 2; qalter -W run_count=3 2"},
    Step{"una",
         "qhold -h u 2; qhold -h o 2; qhold -h z 2; qrls -h u 2; qrls -h o 2; qrls 99; qhold 99; qhold "
         "nonsense"},
    Step{"una",
         "qmove workq 2; qmove nowhere 2; qmove q1@nowhere 2; qmove workq 99; qorder 2 99; qmsg -E 1 x; qmsg "
         "99 x"},
    Step{"una", "qsig -s SIGNULL 1; qsig -s suspend 1; qsig -s nonsense 1; qrerun 1; qrun 2; qsig 99"},
    Step{"oscar",
         "qsig -s suspend 1; qstat 1; qsig -s resume 1; qrerun -W force 99; pbs_release_nodes -j 1 box"},
    Step{
        "una",
        "for f in -a -l -L -S -H -aS -aSj '-a -F json' '-a -F dsv' '-v box' '-H box' '-v nowhere' -av -Z; do "
        "pbsnodes $f; done"},
    Step{"una", "pbsnodes -o box; pbsnodes -C box text; pbsnodes -r box"},
    Step{"alice",
         "qmgr -c 'create vnode v1'; qmgr -c 'set vnode box resources_available.ncpus=4'; qmgr -c 'list node "
         "box'; "
         "qmgr -c 'unset node box resources_available.ncpus'; qmgr -c 'set node nowhere Priority=1'; qmgr -c "
         "'print node box'; qmgr -c 'delete node v1'; qmgr -c 'set node box Priority=x'"},
    Step{
        "una",
        "qmgr -c 'set node box Priority=5'; qmgr -c 'create node x'; qmgr -c 'set server comment=x'; qmgr -c "
        "'create resource x type=long'; qmgr -c 'set sched default comment=x'; qmgr -c 'set hook h "
        "enabled=true'"},
    Step{"oscar",
         "qmgr -c 'set server comment=x'; qmgr -c 'unset server comment'; qmgr -c 'set server "
         "managers=oscar@*'; qmgr "
         "-c 'create resource x type=long'; qmgr -c 'create sched s9'; qmgr -c 'set node box comment=y'; "
         "qmgr -c "
         "'unset node box comment'"},
    Step{"root",
         "printf 'import pbs\\n' > /tmp/h$$.py; qmgr -c 'create hook h3 event=queuejob'; qmgr -c \"import "
         "hook h3 "
         "application/x-python default /tmp/h$$.py\"; qmgr -c 'export hook h3 application/x-python default'; "
         "qmgr -c 'set hook "
         "h3 event=nonsense'; qmgr -c 'set hook h3 order=3,alarm=9'; qmgr -c 'unset hook h3 alarm'; qmgr -c "
         "'print hook h3'; "
         "qmgr -c 'list hook h3'; qmgr -c 'delete hook h3'; qmgr -c 'delete hook h3'"},
    Step{"alice",
         "printf 'c q qa\\ns q qa queue_type=e,en=t,st=t\\nl q qa\\np q qa\\nd q qa\\nnonsense\\n#x\\n' | "
         "qmgr; qmgr -a -c "
         "'l q nowhere'; qmgr -n -c 'l s'; qmgr -e -c 's q workq priority=1'; qmgr -z -c 'l q nowhere'"},
    Step{
        "alice",
        "qmgr -c 'create queue qr queue_type=route,route_destinations=workq'; qmgr -c 'set queue qr "
        "route_destinations+=q1'; qmgr -c 'list queue qr'; qmgr -c 'set queue qr from_route_only=true'; qmgr "
        "-c "
        "'delete queue qr'; qmgr -c 'set queue workq,q1 Priority=3'; qmgr -c 'list queue workq,q1 Priority'"},
    Step{"alice",
         "qmgr -c 'set server resources_default.ncpus=1'; qmgr -c 'unset server resources_default'; qmgr -c "
         "'set server "
         "max_run=\"[u:una=5],[o:PBS_ALL=9]\"'; qmgr -c 'unset server max_run'; qmgr -c 'set server "
         "query_other_jobs=maybe'; qmgr -c 'list server managers,operators'"},
    Step{"una",
         "pbs_rsub -R 2200 -E 2300 -N r -l select=1:ncpus=1; pbs_rsub -R x; pbs_rsub -R 2300 -D 60 -r "
         "FREQ=DAILY\\;COUNT=2; "
         "pbs_rstat; pbs_rstat -S; pbs_rstat -B; pbs_ralter -D 120 R99; pbs_ralter -N x R5; pbs_rdel R99; "
         "pbs_rdel x"},
    Step{"una", "pbs_hostn -v box; pbs_hostn nowhere; qstat --version; tracejob 99; pbs_topologyinfo -a"},
    Step{"una",
         "qdel 99; qdel nonsense; qdel -W force 1; qdel -Wsuppress_email=1 2; qdel -x 2; qdel 3 4 5 6 99"},
    Step{"oscar", "qdel -W force 1 2; qdel 3 4 5 6 7; sleep 1; qselect"},
    Step{"una", "qdel 0; qdel '1[]'; qdel -x 0; qstat -x"},
    Step{"alice",
         "qmgr -c 'delete resource r1'; qmgr -c 'delete queue q1'; qmgr -c 'delete node other'; qmgr -c "
         "'delete queue nowhere'"},
    Step{"una", "qdisable workq; qstop workq; qterm"},
    Step{"oscar", "qdisable workq; qenable workq; qstop workq; qstart workq; qterm -t quick -x"},
    Step{"una", "qmgr -c 'set sched default policy=x,nonsense=1' | cat; pbs_hostn box"},
    Step{"root", "qmgr -c 'print server'; qmgr -c 'print node @default'; qmgr -c 'print sched'"},
};

// Replaces texts that differ from one run to the next.
std::string comparable(std::string text) {
    text = std::regex_replace(
        text, std::regex("(Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{2} +[0-9]+ [0-9:]+ [0-9]{4}"), "TIME");
    text = std::regex_replace(text, std::regex("[0-9]{2}/[0-9]{2}/[0-9]{4} [0-9:]+"), "TIME");
    text = std::regex_replace(
        text,
        std::regex(
            "(last_state_change_time|last_used_time|reserve_[a-z]+|ctime|mtime|qtime|etime|stime|"
            "eligible_time|license_count|used_by|state|last_[a-z_]+|session_id|resources_used[.a-z]*) = "
            "[^\n]*"),
        "$1");
    // Removes the session from the columns of a job that has run; tasks and further columns follow.
    text = std::regex_replace(text, std::regex(" +[0-9]+( +[0-9]+ +[0-9]+ )"), " SESSION$1");
    // A shell writes this if the command that reads its output ends before it has read everything.
    text = std::regex_replace(text, std::regex("[^\n]*write error: Broken pipe\n"), "");
    text = std::regex_replace(text, std::regex("(session_id[^0-9]*)[0-9]+"), "$1");
    text = std::regex_replace(text, std::regex("\\b1[0-9]{9}\\b"), "EPOCH");
    text = std::regex_replace(text, std::regex("\\b[0-9]{2}:[0-9]{2}(:[0-9]{2})?\\b"), "CLOCK");
    text = std::regex_replace(text, std::regex("/tmp/h[0-9]+"), "/tmp/h");
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
        // Turn scheduling off, so that replies don't depend on the moment of a request.
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

// If a client requests an attribute that OpenPBS's server doesn't know at a scheduler, the server replies
// twice and ends. So this project's clients request none.
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
        EXPECT_THAT(refused(command),
                    HasSubstr("the server has no policies, time_windows, fs_groups and quotas"))
            << command;
    EXPECT_EQ(site.ok("$ours/qmgr -c 'list sched default policy,nonsense'"), "Sched default\n\n");
    EXPECT_EQ(site.ok("$ours/qmgr -c 'list sched default policy,scheduling'"),
              "Sched default\n    scheduling = True\n\n");
    EXPECT_THAT(refused("qmgr -c 'create policy p1'"), HasSubstr("15007"));
    site.ok("kill -0 $(cat /var/spool/pbs/server_priv/server.lock); $stock/qstat -B");
}

// Puts this project's pbs_iff in the place of OpenPBS's. The clients of both projects then use it.
TEST_F(OpenpbsStock, OurHelperVouchesForUsers) {
    const Site site;
    site.start();
    site.ok(
        "rm $stock/../sbin/pbs_iff; cp $ours/pbs_iff $stock/../sbin/; chown root:root "
        "$stock/../sbin/pbs_iff; "
        "chmod 4755 $stock/../sbin/pbs_iff");
    for (const char* whose : {"$stock", "$ours"}) {
        const std::string id =
            site.ok(std::string("cd /; echo sleep 9 | ") + whose + "/qsub -h | tr -d '\\n'", "una");
        EXPECT_THAT(site.ok(std::string(whose) + "/qstat -f " + id, "una"), HasSubstr("Job_Owner = una@box"));
        site.refused(std::string(whose) + "/qdel " + id, "nobody");
        site.ok(std::string(whose) + "/qdel " + id, "una");
    }
}

TEST_F(OpenpbsStock, OurClientsAreKnownByMunge) {
    if (test::Munged::program().empty()) GTEST_SKIP() << test::Munged::kMissing;
    const Site site;
    // OpenPBS's libmunge uses the default socket only. The library's name is one that only Debian's
    // development package installs.
    site.ok(
        "mkdir -p /run/munge && mount -t tmpfs -o mode=755 tmpfs /run/munge && cd /var/tmp && "
        "head -c 128 /dev/urandom > key && chmod 600 key && " +
        test::Munged::program() +
        " --key-file=/var/tmp/key --pid-file=/run/munge/pid --seed-file=/var/tmp/seed "
        "--log-file=/run/munge/log && echo PBS_SUPPORTED_AUTH_METHODS=munge,resvport >> /etc/pbs.conf");
    if (site.sh("test -e /usr/lib/$(uname -m)-linux-gnu/libmunge.so").exit != 0)
        GTEST_SKIP() << "OpenPBS loads libmunge.so (Debian's package libmunge-dev)";
    site.start();
    const std::string id =
        site.ok("cd /; export PBS_AUTH_METHOD=munge; echo sleep 9 | $ours/qsub -h | tr -d '\\n'", "una");
    EXPECT_THAT(site.ok("PBS_AUTH_METHOD=munge $stock/qstat -f " + id, "una"),
                HasSubstr("Job_Owner = una@box"));
    EXPECT_THAT(site.refused("PBS_AUTH_METHOD=munge $ours/qmgr -c 'create queue q1'", "una"),
                HasSubstr("15007"));
    site.ok("PBS_AUTH_METHOD=munge $ours/qmgr -c 'create queue q1 queue_type=execution'", "alice");
    site.ok("PBS_AUTH_METHOD=munge $ours/qdel " + id, "una");
}

// A request may name an attribute of a scheduler that the server doesn't know. The plugin keeps such a
// request from the server, whichever client makes it.
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

// Tests with damaged or missing files of the plugin: the server starts and works, and its log names the file
// and the fault.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <span>
#include <string>

#include "tests/openpbs/site.h"

namespace pbs::e2e {
namespace {
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// A script that damages a file. `$f` stands for the installed file, `$z` for another library.
struct Damage {
    const char* name;
    const char* script;
    const char* told;  // the log's text after the file's path
};
constexpr const char* kGoesOn = "the server goes on without: ";
constexpr const char* kNotAvailable = "policy objects are not available: ";

class OpenpbsDamage : public AttachedSite {
  protected:
    void SetUp() override {
        if (!make_site()) return;
        folder = site->ok(
            "d=$(mktemp -d /var/spool/copyXXXXXX); chmod 755 $d; cp $ours/pbs_policy*.so $d; echo -n $d");
        site->install(options() + " --library " + folder);
    }
    // Puts good copies of the plugin's files back.
    void mend() const { site->ok("rm -rf " + folder + "/pbs_policy*.so; cp $ours/pbs_policy*.so " + folder); }
    void damage(const std::string& file, const Damage& one) const {
        site->ok(
            fmt::format("f={} z=$(ldconfig -p | sed -n 's/.*=> \\(.*libz.so.1\\)$/\\1/p' | head -n 1); {}",
                        file, one.script));
    }
    void forget_logs() const {
        site->ok("rm -f /var/spool/pbs/server_logs/* /var/spool/pbs/server_priv/policyd.log");
    }
    bool wait_until_told(const std::string& text) const {
        return wait_for(
            [&] {
                return site->ok(
                               "cat /var/spool/pbs/server_logs/* /var/spool/pbs/server_priv/policyd.log "
                               "2>/dev/null || true")
                           .find(text) != std::string::npos;
            },
            std::chrono::seconds(20));
    }
    void works() const {
        EXPECT_EQ(site->stock_qmgr("set queue workq Priority = 3").exit, 0);
        EXPECT_EQ(site->sh("echo true | $stock/qsub -h -o /dev/null -e /dev/null", "una").exit, 0);
        EXPECT_EQ(site->sh("$stock/qselect | xargs $stock/qdel").exit, 0);
    }
    void each(const std::string& file, std::string_view kind, std::span<const Damage> damages) const {
        for (const Damage& one : damages) {
            SCOPED_TRACE(file + " " + one.name);
            forget_logs();
            damage(file, one);
            site->start();
            EXPECT_TRUE(wait_until_told(std::string(kind) + file + ": " + one.told)) << site->log();
            works();
            EXPECT_THAT(site->qmgr("create policy p1").exit, Not(0));
            site->stop();
            mend();
        }
    }

    std::string folder;
};

// The table of loadable_test.cc has more ways to damage an object.
constexpr std::array kOfPreload{
    Damage{"cut", "truncate -s 5000 $f", "checksum and bytes "},
    Damage{"with zeros", "dd if=/dev/zero of=$f bs=1k count=32 conv=notrunc 2>/dev/null",
           "checksum and bytes "},
    Damage{"a directory", "rm $f; mkdir $f", "checksum and bytes unknown"},
};
constexpr std::array kOfObjects{
    Damage{"cut", "truncate -s 5000 $f", "5000 bytes, expected "},
    Damage{"with zeros", "dd if=/dev/zero of=$f bs=1k seek=64 count=32 conv=notrunc 2>/dev/null",
           "checksum "},
    Damage{"missing", "rm $f", "No such file or directory"},
};

TEST_P(OpenpbsDamage, ADamagedPreloadedObjectIsReportedAndTheServerWorks) {
    each(folder + "/pbs_policy_preload.so", kGoesOn, kOfPreload);
}

TEST_P(OpenpbsDamage, ADamagedModuleIsReportedAndTheServerWorks) {
    each(folder + "/pbs_policy_openpbs.so", kGoesOn, kOfObjects);
}

TEST_P(OpenpbsDamage, ADamagedPluginIsReportedAndTheServerWorks) {
    each(folder + "/pbs_policy.so", kNotAvailable, kOfObjects);
}

TEST_P(OpenpbsDamage, MissingSumsAreReportedAndTheServerWorks) {
    forget_logs();
    site->ok("rm " + folder + "/pbs_policy.sums");
    site->start();
    EXPECT_TRUE(wait_until_told("pbs_policy_install --openpbs --renew writes them")) << site->log();
    works();
    site->stop();
    site->ok("$ours/pbs_policy_install --openpbs --renew --library " + folder);
    site->start_with_plugin();
    EXPECT_EQ(site->qmgr("create policy p1").exit, 0);
}

// pbs_policy.sums names only the plugin's own files. Whether a library of another project is damaged is found
// out by loading it.
TEST_P(OpenpbsDamage, ADamagedLibraryOfTheModuleIsReportedAndTheServerWorks) {
    const std::string module = folder + "/pbs_policy_openpbs.so";
    site->ok("l=$(readlink -f $(ldd " + module +
             " | sed -n 's/.*=> \\(.*libfmt[^ ]*\\) .*/\\1/p')); cp $l /var/spool/cut.so; "
             "truncate -s 5000 /var/spool/cut.so; mount --bind /var/spool/cut.so $l");
    site->start();
    EXPECT_TRUE(wait_until_told(kGoesOn + module + ": signal 7 ended the process that loaded it first"))
        << site->log();
    works();
}

// An upgrade replaces the files while the server runs. The server goes on with the old files, and loads the
// new ones at its next start.
TEST_P(OpenpbsDamage, NoneIsWhatAnUpgradeBrings) {
    site->start_with_plugin();
    site->ok(
        fmt::format("for f in {}/pbs_policy*.so; do cp $f $f.new; echo >> $f.new; mv $f.new $f; done; "
                    "$ours/pbs_policy_install --openpbs --renew --library {}",
                    folder, folder));
    EXPECT_EQ(site->qmgr("create policy p1").exit, 0);
    site->stop();
    site->start_with_plugin();
    EXPECT_EQ(site->qmgr("list policy p1").exit, 0);
}

TEST_P(OpenpbsDamage, ADamagedStoreIsReportedAndTheServerWorks) {
    site->start_with_plugin();
    EXPECT_EQ(site->qmgr("create policy p0").exit, 0);
    site->stop();
    site->ok("cd /var/spool/pbs/server_priv; mkdir good; cp -a policy.db* good/");
    constexpr std::array kOfStore{
        Damage{"missing", "rm $f; rm -f $f-wal $f-shm", ""},
        Damage{"empty", "truncate -s 0 $f", ""},
        Damage{"cut", "truncate -s 9000 $f", ""},
        Damage{"with zeros", "dd if=/dev/zero of=$f bs=4k seek=1 count=8 conv=notrunc 2>/dev/null", ""},
        Damage{"another file", "cp $z $f", ""},
        Damage{"a directory", "rm $f; mkdir $f", ""},
        Damage{"read-only", "mount --bind $f $f; mount -o remount,ro,bind $f", ""},
    };
    for (const Damage& one : kOfStore) {
        SCOPED_TRACE(one.name);
        forget_logs();
        damage("/var/spool/pbs/server_priv/policy.db", one);
        site->start();
        EXPECT_TRUE(wait_until_told(std::string(kNotAvailable) + "/var/spool/pbs/server_priv/policy.db"))
            << site->log();
        works();
        EXPECT_THAT(site->qmgr("create policy p1").exit, Not(0));
        EXPECT_THAT(site->ok("$stock/qmgr -c 'list sched'"), HasSubstr("policy_service = "));
        site->stop();
        if (!options().empty()) site->ok("$ours/pbs_policyd --stop");
        site->ok(
            "cd /var/spool/pbs/server_priv; umount policy.db 2>/dev/null; rm -rf policy.db*; cp -a good/* .");
    }
    site->start_with_plugin();
    EXPECT_EQ(site->qmgr("list policy p0").exit, 0);
}

// After a full disk the policies are available as soon as the disk has room again.
TEST_P(OpenpbsDamage, NoneIsAFullDisk) {
    site->start_with_plugin();
    EXPECT_EQ(site->qmgr("create policy p0").exit, 0);
    site->stop();
    if (!options().empty()) site->ok("$ours/pbs_policyd --stop");
    forget_logs();
    site->ok(
        "cd /var/spool/pbs; cp -a server_priv kept; "
        "mount -t tmpfs -o mode=750,size=$(( $(du -sk kept | cut -f 1) + 1024 ))k tmpfs server_priv; "
        "cp -a kept/. server_priv/; dd if=/dev/zero of=server_priv/fill bs=4k 2>/dev/null; test -s "
        "server_priv/fill");
    site->start();
    works();
    // pbs_policyd's log is on the full disk, too, so only the service inside the server can log the reason.
    if (options().empty()) EXPECT_TRUE(wait_until_told("the disk is full")) << site->log();
    const auto refusal = [&] { return site->qmgr("create policy p1").err; };
    EXPECT_TRUE(wait_for([&] { return refusal().find("the disk is full") != std::string::npos; },
                         std::chrono::seconds(20)))
        << refusal();
    EXPECT_THAT(site->ok("$stock/qmgr -c 'list sched' | tr -d '\\n\\t'"), HasSubstr("the disk is full"));
    site->ok("rm /var/spool/pbs/server_priv/fill");
    EXPECT_TRUE(wait_for([&] { return site->qmgr("create policy p2").exit == 0; }, std::chrono::seconds(80)));
    EXPECT_EQ(site->qmgr("list policy p0").exit, 0);
}

INSTANTIATE_TEST_SUITE_P(Attachments, OpenpbsDamage, kAttachments, attachment_name);

// If the plugin was to schedule and can't, pbs_sched schedules instead.
class OpenpbsInstead : public OpenpbsDamage {
  protected:
    std::string options() const override { return OpenpbsDamage::options() + " --scheduler"; }
    bool runs(const std::string& job) const {
        return wait_for(
            [&] {
                return attribute_in(site->sh("$stock/qstat -fw '" + job + "' 2>/dev/null").out,
                                    "job_state") == "R";
            },
            std::chrono::seconds(40));
    }
    std::string submit() const {
        return stripped(
            site->ok("cd /; echo sleep 1000 | $stock/qsub -o /dev/null -e /dev/null -l ncpus=1", "una"));
    }
    std::string pbs_scheds() const { return site->sh("pgrep -c -x pbs_sched").out; }
    void schedules_without(const std::string& object) const {
        const std::string path = folder + "/" + object;
        site->ok("truncate -s 5000 " + path);
        site->start();
        EXPECT_TRUE(site->wait_for_log(kGoesOn + path)) << site->log();
        EXPECT_TRUE(site->wait_for_node());
        EXPECT_EQ(site->qmgr("set node box resources_available.ncpus = 100").exit, 0);
        EXPECT_TRUE(runs(submit())) << site->log();
        EXPECT_EQ(pbs_scheds(), "1\n");
        EXPECT_THAT(
            site->ok("$ours/pbs_policy_install --openpbs --status"),
            AllOf(HasSubstr("scheduler: pbs_policy\n"), HasSubstr("\nserver: not attached: " + path)));
        site->stop();
        mend();
        site->start_with_plugin();
        EXPECT_TRUE(runs(submit())) << site->log();
        EXPECT_EQ(attribute_in(site->sh("$stock/qmgr -c 'list sched default'").out, "scheduled_by"),
                  "pbs_policy");
        EXPECT_EQ(pbs_scheds(), "0\n");
        EXPECT_THAT(site->ok("$ours/pbs_policy_install --openpbs --status"),
                    HasSubstr("\nserver: attached since 20"));
    }
};

TEST_P(OpenpbsInstead, PbsSchedIsStartedIfTheModuleIsMissing) {
    schedules_without("pbs_policy_openpbs.so");
    EXPECT_THAT(site->log(), HasSubstr("pbs_sched is started, as the plugin can't schedule"));
}

TEST_P(OpenpbsInstead, OfAPluginThatIsNotPreloaded) {
    schedules_without("pbs_policy_preload.so");
}

INSTANTIATE_TEST_SUITE_P(Attachments, OpenpbsInstead, kAttachments, attachment_name);

}  // namespace
}  // namespace pbs::e2e

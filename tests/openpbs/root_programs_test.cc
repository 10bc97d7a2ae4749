// Tests programs of server_dyn_res that root configured for pbs_sched, at a site where the plugin schedules
// in place of pbs_sched.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/openpbs/site.h"

namespace pbs::e2e {
namespace {
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::chrono::seconds kRootWaits{40};
constexpr const char* kProgram = "/var/spool/pbs/sched_priv/lic";
constexpr const char* kList = "/var/spool/pbs/server_priv/root_programs";

class OpenpbsRootPrograms : public AttachedSite {
  protected:
    // Starts pbs_sched with a program that reports 4 licences.
    void SetUp() override {
        if (!make_site()) return;
        write_program("[ $(id -u) = 0 ] && echo $1");
        site->ok(
            fmt::format("sed -i 's/^resources: \"/&lic, /' /var/spool/pbs/sched_priv/sched_config; echo "
                        "'server_dyn_res: \"lic !{} 4\"' >> /var/spool/pbs/sched_priv/sched_config",
                        kProgram));
        site->start();
        EXPECT_TRUE(site->wait_for_node());
        site->ok(
            "$stock/qmgr -c 'create resource lic type=long'; $stock/qmgr -c 'set node box "
            "resources_available.ncpus = 8'");
        site->stop();
        site->start();
        EXPECT_TRUE(site->wait_for_node());
    }
    void write_program(const std::string& script) const {
        site->ok(fmt::format("printf '#!/bin/sh\\n%s\\n' '{0}' > {1}; chmod 700 {1}", script, kProgram));
    }
    void attach() const {
        site->stop();
        site->install(std::string(GetParam()) + " --scheduler");
        site->start_with_plugin();
        EXPECT_TRUE(site->wait_for_node());
    }
    // Returns the outcome of a job that requests 3 licences: "R", or the amounts in its comment.
    std::string outcome() const {
        const std::string id = stripped(
            site->ok("cd /; echo sleep 600 | $stock/qsub -o /dev/null -e /dev/null -l lic=3", "una"));
        std::string out;
        EXPECT_TRUE(wait_for(
            [&] {
                const std::string job = site->sh("$stock/qstat -fw " + id).out;
                const std::string comment = attribute_in(job, "comment");
                const auto told = comment.find("(R: 3 A: ");
                out = attribute_in(job, "job_state") == "R" ? "R"
                      : told == comment.npos                ? ""
                                                            : comment.substr(told, 10);
                return !out.empty();
            },
            kRootWaits))
            << site->sh("$stock/qstat -fw " + id).out;
        site->sh("$stock/qdel -W force " + id);
        return out;
    }
    std::string all_logs() const {
        return site->sh("cat /var/spool/pbs/server_logs/* /var/spool/pbs/server_priv/policyd.log 2>/dev/null")
            .out;
    }
    bool comes_to_the_log(const std::string& text) const {
        return wait_for([&] { return all_logs().find(text) != std::string::npos; }, kRootWaits);
    }
};

TEST_P(OpenpbsRootPrograms, GoOnAndNothingOfAManagersIsOneOfThem) {
    EXPECT_EQ(outcome(), "R");
    attach();
    EXPECT_EQ(outcome(), "R") << all_logs();
    EXPECT_THAT(site->ok(fmt::format("stat -c '%U %a' {0}; cat {0}", kList)),
                ::testing::AllOf(HasSubstr("root 600\n"), HasSubstr(fmt::format("\nlic !{} 4\n", kProgram))));
    EXPECT_THAT(site->ok("cat /var/spool/pbs/server_priv/migration_report"),
                Not(HasSubstr("without root's rights")));
    // A manager who isn't root sets values of server_dyn_res.
    const auto set = [&](const std::string& value) {
        return site->qmgr("set policy default_policy server_dyn_res = '" + value + "'");
    };
    const Output other = set(fmt::format("lic !{} 5", kProgram));
    EXPECT_EQ(other.exit, 0) << other;
    EXPECT_EQ(outcome(), "(R: 3 A: 0");
    EXPECT_TRUE(comes_to_the_log("runs as nobody, who may not execute it: its mode is 0700"));
    EXPECT_NE(site->sh("echo x >> " + std::string(kList), "alice").exit, 0);
    EXPECT_EQ(set(fmt::format("lic !{} 4", kProgram)).exit, 0);
    EXPECT_EQ(outcome(), "R");
    // With both attachments, the log has the exit status of the program, and the amount that the program has
    // written doesn't count.
    write_program("echo 4; exit 7");
    EXPECT_EQ(outcome(), "(R: 3 A: 0");
    EXPECT_TRUE(comes_to_the_log(fmt::format("There is nothing of lic: {} ended with status 7", kProgram)));
    // A program is refused if others than its owner may write it, as with pbs_sched.
    write_program("echo 4");
    site->ok(fmt::format("chmod 770 {}", kProgram));
    EXPECT_EQ(outcome(), "(R: 3 A: 0");
    EXPECT_TRUE(comes_to_the_log("lic is writable by others than its owner"));
}

// pbs_sched would run the programs in its file as root, but a manager who sets the policy needn't be root. So
// only programs that root has listed come into the file.
TEST_P(OpenpbsRootPrograms, PbsSchedGetsNothingElse) {
    site->stop();
    site->install(GetParam());
    site->start_with_plugin();
    site->ok(
        fmt::format("printf '#!/bin/sh\\necho 9\\n' > {0}; chmod 755 {0}", "/var/spool/pbs/sched_priv/evil"));
    EXPECT_EQ(site->qmgr("set policy default_policy algorithm = external").exit, 0);
    const auto config = [&] { return site->ok("cat /var/spool/pbs/sched_priv/sched_config"); };
    EXPECT_TRUE(wait_for([&] { return config().find("# Made from the policies") == 0; }));
    EXPECT_THAT(config(), HasSubstr(fmt::format("server_dyn_res: \"lic !{} 4\"", kProgram)));
    EXPECT_EQ(site->qmgr("set policy default_policy server_dyn_res = 'lic !/var/spool/pbs/sched_priv/evil "
                         "$(touch /tmp/root_was_here)'")
                  .exit,
              0);
    EXPECT_TRUE(wait_for([&] { return config().find("server_dyn_res") == std::string::npos; })) << config();
    EXPECT_TRUE(wait_for([&] {
        return attribute_in(site->qmgr("list sched default").out, "unsupported_settings")
                   .find("server_priv/root_programs") != std::string::npos;
    })) << site->qmgr("list sched default").out;
}

INSTANTIATE_TEST_SUITE_P(Attachments, OpenpbsRootPrograms, kAttachments, attachment_name);

}  // namespace
}  // namespace pbs::e2e

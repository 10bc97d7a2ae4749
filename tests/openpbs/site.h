// A real OpenPBS server in a box of its own (tests/e2e/box.h), for tests: with the policy plugin in it, or
// without.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/e2e/box.h"
#include "tests/e2e/harness.h"

namespace pbs::e2e {

class Site {
  public:
    // Runs a script of the shell in the box. `stock` stands for the folder of OpenPBS's commands with a
    // slash, `ours` for ours: "$stock/qmgr", "$ours/qmgr".
    Output sh(const std::string& script, const std::string& user = "root") const;
    // Its standard output; a failure is told.
    std::string ok(const std::string& script, const std::string& user = "root") const;
    // What it writes to standard error; that it succeeds is told as a failure.
    std::string refused(const std::string& script, const std::string& user = "root") const;
    // $ours/qmgr -c 'DIRECTIVE'
    Output qmgr(const std::string& directive, const std::string& user = "alice") const;
    // The same of OpenPBS's.
    Output stock_qmgr(const std::string& directive, const std::string& user = "alice") const;

    // Puts the plugin in with these options.
    void install(const std::string& options = {}) const;
    void start() const;
    // And waits until the plugin answers.
    void start_with_plugin() const;
    void stop() const;
    // Waits until jobs can start.
    bool wait_for_node() const;
    void kill_server() const;
    // The server's log.
    std::string log() const;
    // Waits until the server's log has this text so many times.
    bool wait_for_log(const std::string& text, int times = 1) const;

  private:
    Output in_box(const std::string& script, const std::string& user) const;

    Box box_;  // nothing is started in it at first
};

// Skips where there is no OpenPBS.
class OpenpbsTest : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string why = no_openpbs(); !why.empty()) GTEST_SKIP() << why;
    }
};

// The number that a command has printed; 0 if it has printed none.
int number_of(const std::string& text);

// A site with the plugin, started.
class PolicySite : public OpenpbsTest {
  protected:
    void SetUp() override;
    // How the plugin is attached.
    virtual std::string options() const { return {}; }

    std::optional<Site> site;
};

// The same with the plugin attached in each way: with the options of pbs_policy_install as the parameter.
class AttachedSite : public PolicySite, public ::testing::WithParamInterface<const char*> {
  protected:
    std::string options() const override { return GetParam(); }
};
inline const auto kAttachments = ::testing::Values("", "--beside");
inline std::string attachment_name(const ::testing::TestParamInfo<const char*>& one) {
    return *one.param == '\0' ? "inside" : "beside";
}

}  // namespace pbs::e2e

// A real OpenPBS server in a box of its own (tests/e2e/box.h), for tests with or without the policy plugin.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tests/e2e/box.h"
#include "tests/e2e/harness.h"
#include "values/text.h"

namespace pbs::e2e {

// Returns the text without white space at its ends, such as an id that a command has printed.
inline std::string stripped(std::string_view text) {
    return std::string(values::trim(text));
}

class Site {
  public:
    // Runs a shell script in the box. In the script, `$stock` is the folder with OpenPBS's commands, and
    // `$ours` the folder with this project's: "$stock/qmgr".
    Output sh(const std::string& script, const std::string& user = "root") const;
    // Runs a script, and expects exit status 0. Returns its standard output.
    std::string ok(const std::string& script, const std::string& user = "root") const;
    // Runs a script, and expects another exit status than 0. Returns its standard error.
    std::string refused(const std::string& script, const std::string& user = "root") const;
    // Runs $ours/qmgr -c 'DIRECTIVE'.
    Output qmgr(const std::string& directive, const std::string& user = "alice") const;
    // Runs $stock/qmgr -c 'DIRECTIVE'.
    Output stock_qmgr(const std::string& directive, const std::string& user = "alice") const;

    // Installs the plugin with these options of pbs_policy_install.
    void install(const std::string& options = {}) const;
    // Has the server and the daemon load faults.so (faults.cc) at their next start.
    void preload_faults() const;
    // Makes the file of a fault, or removes it.
    void begin_fault(const std::string& fault, int number = 0) const;
    void end_fault(const std::string& fault) const { ok("rm /var/spool/pbs/faults/" + fault); }
    void start() const;
    // Counts the lines of all log files of a kind, such as "server" or "sched", that have the text. At
    // midnight a second file begins.
    int logged(const std::string& kind, const std::string& text) const;
    // Starts the server and waits until the plugin answers.
    void start_with_plugin() const;
    void stop() const;
    // Waits until the vnode is free, so that jobs can start.
    bool wait_for_node() const;
    // Adds these vnodes. Each has a mom of its own, with an address, a port and a home (/var/spool/pbs/NAME).
    // Names are v0 to v9.
    void add_moms(const std::vector<std::string>& names) const;
    void kill_server() const;
    // Returns the texts of the server's logs.
    std::string log() const;
    // Waits until the server's logs contain this text at least `times` times.
    bool wait_for_log(const std::string& text, int times = 1) const;

  private:
    Output in_box(const std::string& script, const std::string& user) const;

    Box box_;  // a new box, in which nothing runs
};

// The base of tests that are skipped if there is no OpenPBS.
class OpenpbsTest : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string why = no_openpbs(); !why.empty()) GTEST_SKIP() << why;
    }
};

// Returns the number that a command has printed; 0 if it has printed none.
int number_of(const std::string& text);

// The base of tests that use a site with the plugin. The site is started before each test.
class PolicySite : public OpenpbsTest {
  protected:
    void SetUp() override;
    // Returns the options of pbs_policy_install, which say how the plugin is attached.
    virtual std::string options() const { return {}; }
    // Makes a site without the plugin, in place of SetUp(). False: the test is skipped.
    bool make_site();

    std::optional<Site> site;
};

// The base of tests that run once for each way to attach the plugin. The parameter has the options of
// pbs_policy_install.
class AttachedSite : public PolicySite, public ::testing::WithParamInterface<const char*> {
  protected:
    std::string options() const override { return GetParam(); }
};
inline const auto kAttachments = ::testing::Values("", "--beside");
inline std::string attachment_name(const ::testing::TestParamInfo<const char*>& one) {
    return *one.param == '\0' ? "inside" : "beside";
}

}  // namespace pbs::e2e

// A real OpenPBS server whose jobs a program of the site schedules, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tests/openpbs/scheduled_site.h"

namespace pbs::e2e {

class ProgramSite : public ScheduledSite {
  protected:
    void SetUp() override {
        ScheduledSite::SetUp();
        if (IsSkipped()) return;
        accept("set policy default_policy algorithm = external, external_program = ifl");
        EXPECT_TRUE(scheduled_by("nobody since ")) << why("1");
    }
    // Starts docs/fifo_scheduler.cc.
    void start_program() const {
        site->ok("cd /tmp; setsid $ours/fifo_scheduler >> /tmp/fifo.log 2>&1 < /dev/null &", "alice");
        EXPECT_TRUE(scheduled_by("alice@")) << log();
    }
    void kill_program() const {
        site->ok("kill -9 $(pgrep -x fifo_scheduler)");
        EXPECT_TRUE(scheduled_by("nobody since "));
    }
    std::string log() const { return site->sh("cat /tmp/fifo.log").out; }
    // Has a program do steps (tests/simulate/scheduler_program.cc). Returns its lines.
    std::string steps(const std::string& words, const std::string& user = "alice") const {
        const std::string file = "/tmp/steps." + user;
        return site->ok("rm -f " + file + "; " + kSteps + file + ' ' + words + " exit 0; cat " + file, user);
    }
    // Has a manager's program do steps in the background. It writes its lines to the file.
    void begin_steps(const std::string& file, const std::string& words) const {
        site->ok(std::string("setsid ") + kSteps + file + ' ' + words + " > /dev/null 2>&1 < /dev/null &",
                 "alice");
    }
    // Waits for a line in a file of begin_steps(). Returns all its lines.
    std::string said(const std::string& file) const {
        wait_for([&] { return site->sh("test -s " + file).exit == 0; }, kLong);
        return site->sh("cat " + file).out;
    }

  private:
    static constexpr const char* kSteps = PBS_BUILD_DIR "/tests/bin/scheduler_program ";
};

}  // namespace pbs::e2e

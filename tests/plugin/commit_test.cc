// Tests group commit through the plugin's C interface: commit() makes the changes of several calls of
// manager() durable, or undoes them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "ifl/pbs_error.h"
#include "objects/store.h"
#include "tests/plugin/fake_host.h"

namespace pbs::plugin_test {
namespace {

using testing::HasSubstr;
using testing::Not;

class Commit : public testing::Test {
  protected:
    void SetUp() override { host_.commits = false; }
    int32_t create(const std::string& name) {
        return host_.manager(PBS_CMD_CREATE, PBS_OBJ_POLICY, name).code;
    }
    int32_t commit() {
        char error[256] = "";
        const int32_t code = host_.plugin.commit(host_.plugin.self, host_.now, error, sizeof error);
        error_ = error;
        return code;
    }
    // Returns whether the policy is in the store's file, as a start after a crash would find it.
    bool is_stored(const std::string& name) const {
        const auto copy = host_.home() / "copy";
        std::filesystem::remove_all(copy);
        std::filesystem::create_directory(copy);
        for (const auto& file : std::filesystem::directory_iterator(host_.home() / "server_priv"))
            if (file.path().filename().string().starts_with("policy.db"))
                std::filesystem::copy_file(file.path(), copy / file.path().filename());
        const auto store = objects::Store::open((copy / "policy.db").string(), {"UTC"}, {});
        EXPECT_TRUE(store) << store.error().message;
        return store && store->snapshot()->policy(name) != nullptr;
    }

    FakeHost host_;
    std::string error_;
};

TEST_F(Commit, MakesDurableWhatManagerLeft) {
    host_.bring_up();
    EXPECT_EQ(create("p1"), 0);
    EXPECT_EQ(create("p1"), PBSE_QUEEXIST) << "a request sees those before it";
    EXPECT_EQ(create("p2"), 0);
    EXPECT_FALSE(is_stored("p1"));
    EXPECT_EQ(commit(), 0) << error_;
    EXPECT_TRUE(is_stored("p1"));
    EXPECT_TRUE(is_stored("p2"));
    EXPECT_EQ(commit(), 0);
}

TEST_F(Commit, WhateverReadsTheConfigurationFindsItCommitted) {
    host_.bring_up();
    EXPECT_EQ(create("p1"), 0);
    EXPECT_EQ(host_.status(PBS_OBJ_POLICY, "p1").code, 0);
    EXPECT_TRUE(is_stored("p1"));
    EXPECT_EQ(create("p2"), 0);
    host_.cycle();
    EXPECT_TRUE(is_stored("p2"));
    EXPECT_EQ(create("p3"), 0);
    EXPECT_EQ(host_.set(PBS_OBJ_SCHED, "default", "policy", "p3").code, 0);
    EXPECT_TRUE(is_stored("p3"));
    EXPECT_EQ(host_.attributes_of(PBS_OBJ_SCHED, "default")["active_policy"], "p3");
    EXPECT_EQ(commit(), 0);
}

// The scheduler gets a changed configuration when it needs it for a cycle, and not at each change.
TEST_F(Commit, AChangeIsInForceInTheNextCycle) {
    host_.bring_up();
    EXPECT_EQ(host_.set(PBS_OBJ_POLICY, "default_policy", "server_host", "fermi").code, 0);
    EXPECT_FALSE(host_.logged("server_host has no effect"));
    EXPECT_EQ(commit(), 0);
    host_.cycle();
    EXPECT_TRUE(host_.logged("server_host has no effect"));
    EXPECT_THAT(host_.attributes_of(PBS_OBJ_SCHED, "default")["unsupported_settings"],
                HasSubstr("server_host has no effect"));
    EXPECT_EQ(host_.manager(PBS_CMD_UNSET, PBS_OBJ_POLICY, "default_policy", {{"server_host", ""}}).code, 0);
    EXPECT_THAT(host_.attributes_of(PBS_OBJ_SCHED, "default")["unsupported_settings"],
                Not(HasSubstr("server_host")));
}

TEST_F(Commit, AWindowOfATypeWithoutARuleIsInTheLog) {
    constexpr const char* kLine = "time_window office: type has no effect without rrule";
    host_.bring_up();
    EXPECT_EQ(host_.manager(PBS_CMD_CREATE, PBS_OBJ_TIME_WINDOW, "office", {{"type", "prime"}}).code, 0);
    host_.cycle();
    EXPECT_TRUE(host_.logged(kLine));
    host_.log.clear();
    EXPECT_EQ(host_.set(PBS_OBJ_TIME_WINDOW, "office", "comment", "later").code, 0);
    host_.cycle();
    EXPECT_FALSE(host_.logged(kLine)) << "once";
    EXPECT_EQ(host_.set(PBS_OBJ_TIME_WINDOW, "office", "rrule", "FREQ=DAILY").code, 0);
    EXPECT_EQ(host_.set(PBS_OBJ_TIME_WINDOW, "office", "rrule", "", PBS_OP_UNSET).code, 0);
    host_.cycle();
    EXPECT_FALSE(host_.logged(kLine)) << "it was taken back before a cycle saw it";
}

}  // namespace
}  // namespace pbs::plugin_test

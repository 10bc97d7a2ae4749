// A server that has loaded the built policy plugin, as a real server does at its start.
#pragma once

#include "tests/host/server_fixture.h"

namespace pbs::host {

class PluginServerTest : public ServerTest {
  protected:
    static constexpr int64_t kFirstChange = 1'000'000;
    void SetUp() override {
        ServerTest::SetUp();
        for (const char* name : {"/server_priv", "/sched_priv"})
            std::filesystem::create_directories(folder_ + name);
        load_plugin();
    }
    void load_plugin() {
        auto loaded =
            Plugin::load({PBS_POLICY_PLUGIN, folder_, "svr", "UTC", server_->now(), kFirstChange}, *log_);
        ASSERT_TRUE(loaded) << loaded.error().message;
        plugin_ = std::move(*loaded);
        server_->parts.plugin = plugin_.get();
        ASSERT_TRUE(server_->start_plugin());
    }
    void TearDown() override {
        if (plugin_) plugin_->stop(server_->now());
        ServerTest::TearDown();
        plugin_.reset();
    }
};

}  // namespace pbs::host

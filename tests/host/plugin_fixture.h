// A server that has loaded the built policy plugin, as a real server does at its start.
#pragma once

#include "tests/host/server_fixture.h"

namespace pbs::host {

class PluginServerTest : public ServerTest {
  protected:
    void SetUp() override {
        ServerTest::SetUp();
        load_plugin();
    }
    void TearDown() override {
        if (plugin_) plugin_->stop(server_->now());
        ServerTest::TearDown();
        plugin_.reset();
    }
};

}  // namespace pbs::host

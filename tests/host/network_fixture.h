// A Network whose event loop runs in a thread, as in the server. The test's own thread acts as the clients.
#pragma once

#include <gtest/gtest.h>
#include <uv.h>

#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <thread>
#include <utility>

#include "server_plugin/host/net/network.h"
#include "tests/host/server_fixture.h"

namespace pbs::host {

class NetworkFixture : public ServerTest {
  protected:
    // Opens the network with options_, and runs its loop.
    void listen() {
        uv_loop_init(&loop_);
        uv_async_init(&loop_, &stop_, [](uv_async_t* handle) {
            auto& test = *static_cast<NetworkFixture*>(handle->data);
            test.network_->close();
            uv_close(reinterpret_cast<uv_handle_t*>(&test.stop_), nullptr);
            uv_close(reinterpret_cast<uv_handle_t*>(&test.memory_asked_), nullptr);
        });
        stop_.data = this;
        uv_async_init(&loop_, &memory_asked_, [](uv_async_t* handle) {
            auto& test = *static_cast<NetworkFixture*>(handle->data);
            test.memory_answer_->set_value(test.network_->memory());
        });
        memory_asked_.data = this;
        auto network = Network::open(&loop_, *server_, options_, [this] { after_request_(); });
        ASSERT_TRUE(network) << network.error().message;
        network_ = std::move(*network);
        thread_ = std::thread([this] { uv_run(&loop_, UV_RUN_DEFAULT); });
    }
    void end_loop() {
        if (!thread_.joinable()) return;
        uv_async_send(&stop_);
        thread_.join();
        EXPECT_EQ(uv_loop_close(&loop_), 0) << "a handle was left open";
    }
    void TearDown() override {
        end_loop();
        ServerTest::TearDown();
    }
    // Returns the value of Network::memory(), which the loop's thread reads.
    std::size_t memory() {
        std::promise<std::size_t> answer;
        memory_answer_ = &answer;
        uv_async_send(&memory_asked_);
        return answer.get_future().get();
    }

    NetworkOptions options_;
    std::function<void()> after_request_ = [] {};  // called in the loop's thread
    uv_loop_t loop_{};
    std::unique_ptr<Network> network_;

  private:
    uv_async_t stop_{};
    uv_async_t memory_asked_{};
    std::promise<std::size_t>* memory_answer_ = nullptr;
    std::thread thread_;
};

}  // namespace pbs::host

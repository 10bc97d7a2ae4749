// Runs the policy service as a thread of pbs_server.bin.
#pragma once

#include <pthread.h>

#include <atomic>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "server_plugin/openpbs/service.h"

namespace pbs::openpbs {

class Inside {
  public:
    explicit Inside(ServiceOptions options) : options_(std::move(options)) {}
    ~Inside() { stop(); }
    Inside(const Inside&) = delete;
    Inside& operator=(const Inside&) = delete;

    // Starts the thread, with all signals blocked; ends an earlier one before. Returns the shim's end of the
    // connection to the service. Used as a Connector.
    tl::expected<int, std::string> connect();
    // Ends the thread. A thread that hasn't ended after some seconds is left running.
    void stop();
    // Forgets the thread. To be called in a forked child, which doesn't have the thread.
    void forget();

  private:
    static void* run(void* self);

    ServiceOptions options_;
    std::optional<pthread_t> thread_;
    std::atomic<bool> end_ = false;
    std::atomic<int> service_end_ = -1;  // the service's end of the connection
};

}  // namespace pbs::openpbs

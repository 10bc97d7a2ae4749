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

    // Starts the thread, with all signals blocked. Ends an earlier thread before. Returns the shim's end of
    // the connection to the service. This function is used as a Connector.
    tl::expected<int, std::string> connect();
    // Ends the thread. A thread that hasn't ended after 3 seconds is left running.
    void stop();
    // Forgets the thread. Call it in a forked child, which doesn't have the thread.
    void forget();

  private:
    static void* run(void* self);

    ServiceOptions options_;
    std::optional<pthread_t> thread_;
    std::atomic<bool> end_ = false;
    std::atomic<int> service_end_ = -1;  // the service's end of the connection
};

}  // namespace pbs::openpbs

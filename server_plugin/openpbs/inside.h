// The policy service as a thread of pbs_server.bin.
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

    // Starts the thread, in place of one that has ended, with all signals blocked: a Connector's work.
    tl::expected<int, std::string> connect();
    // Ends the thread; one that doesn't end in some seconds is left.
    void stop();
    // In a child of the process, which has no such thread.
    void forget();

  private:
    static void* run(void* self);

    ServiceOptions options_;
    std::optional<pthread_t> thread_;
    std::atomic<bool> end_ = false;
    std::atomic<int> service_end_ = -1;  // the thread's descriptor
};

}  // namespace pbs::openpbs

// The server's certificate for TLS, from two files. When one of the files has changed, a thread reads both
// again while the loop goes on.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "ifl/tls.h"
#include "server_plugin/host/base/error.h"

struct uv_loop_s;

namespace pbs::host {

class Log;

class Certificate {
  public:
    // Reads the PEM files, whose paths have to be absolute, as TlsContext::server() does. Errors name the
    // file and what is wrong with it. If the files can't be read after a later change, that is logged, and
    // the earlier certificate stays in use. REQUIRES: the log outlives the loop.
    static Result<std::unique_ptr<Certificate>> open(uv_loop_s* loop, Log& log,
                                                     const std::string& certificate, const std::string& key);
    // REQUIRES: close() was called, and the loop has run since.
    ~Certificate();
    Certificate(const Certificate&) = delete;
    Certificate& operator=(const Certificate&) = delete;

    // Returns the context for new connections.
    const ifl::TlsContext& context() const;
    void close();

  private:
    struct Shared;
    struct Watch;
    explicit Certificate(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}
    static void read_anew(const std::shared_ptr<Shared>& shared);

    std::shared_ptr<Shared> shared_;  // shared with the thread that reads the files
};

}  // namespace pbs::host

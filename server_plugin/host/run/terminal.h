// The terminal of an interactive job: a pseudo-terminal. Its data is carried to and from the qsub that waits
// for the job, by the protocol of OpenPBS's qsub:
//   to qsub   the job's id, filled up with zeros to 276 bytes
//   from qsub "TERM=type" in 80 bytes; 6 bytes: the characters for interrupt, quit, erase, kill, end of file
//             and suspend; "WINSIZE rows,columns,width,height" in 80 bytes
// After that, the input and output of the terminal follow.
#pragma once

#include <poll.h>

#include <array>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/run/runner.h"

namespace pbs::host {

class Terminal {
  public:
    // Connects to qsub and makes the terminal. The error is the reason for a failure.
    static tl::expected<Terminal, std::string> open(const JobStart& job);

    // Returns the job's side of the terminal. Call close_slave() when the job's processes have it.
    int slave() const { return slave_.get(); }
    void close_slave() { slave_.reset(); }
    // Returns the value for the variable TERM.
    const std::string& type() const { return type_; }

    // Returns the descriptors and events to poll for.
    std::array<pollfd, 2> wanted() const;
    // Carries all data that is ready, in both directions, without waiting for more.
    void carry();
    bool client_gone() const { return client_gone_; }
    // Hangs up: the job's processes get SIGHUP.
    void hang_up() { master_.reset(); }
    // Shows a line of text to the user.
    void show(std::string_view text) { to_client_ += text; }
    // Sends the job's last output, if qsub reads it in time. Call it when the job has ended.
    void finish();

  private:
    Fd client_;
    Fd master_;
    Fd slave_;
    std::string type_;
    std::string to_client_;
    std::string to_job_;
    bool client_gone_ = false;
};

}  // namespace pbs::host

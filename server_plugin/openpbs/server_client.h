// A scheduler's two connections to OpenPBS's server. On the first one the scheduler makes its requests. On
// the second one the server sends commands for cycles, and the scheduler reports the end of each cycle.
//
// No function waits, because the server may be waiting for this thread. Requests are sent as fast as the
// server reads them, and replies are read when poll() reports them.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ifl/exchange.h"
#include "ifl/packet.h"
#include "server_plugin/openpbs/site.h"

namespace pbs::openpbs {

// A command of the server (SCH_* of OpenPBS).
struct Command {
    int number = 0;
    std::string job;  // kRunOne: the job's id
};
inline constexpr int kConfigure = 6;
inline constexpr int kQuit = 7;
inline constexpr int kRunOne = 11;     // an operator wants the job started
inline constexpr int kStartOver = 16;  // the running cycle is to begin anew

class ServerClient {
  public:
    enum class State : std::uint8_t { closed, first, second, registered };

    explicit ServerClient(std::string sched) : sched_(std::move(sched)), packets_(kLongestCommand) {}
    ServerClient(const ServerClient&) = delete;
    ServerClient& operator=(const ServerClient&) = delete;

    // Connects from reserved ports, which only root may use, and begins to register.
    ifl::Result<void> open(const ServerPlace& server);
    // Ends the registration. Unanswered requests get no reply.
    void close(const std::string& why);

    State state() const { return state_; }
    // Returns the reason why the connection is closed, as given to close() or as found when it was lost;
    // empty: it is open.
    const std::string& why_closed() const { return why_closed_; }
    // Returns the error code by which the server refused to register this scheduler; 0: it didn't refuse.
    int refused() const { return refused_; }

    // Makes a request. The server answers requests in the order in which they were made; `done` gets the
    // reply, and `sink` the objects in it, as for ifl::ReplyDecoder.
    void ask(ifl::RequestType type, ifl::RequestBody body, std::string extend, ifl::Exchange::Done done,
             ifl::ObjectSink sink = {});
    // Makes a request that has no reply.
    void tell(ifl::RequestType type, ifl::RequestBody body);
    std::size_t unanswered() const { return first_ ? first_->unanswered() : 0; }
    // Returns the number of bytes of requests that are still to be sent.
    std::size_t unsent() const { return first_ ? first_->unsent() : 0; }

    std::optional<Command> next_command();
    // Reports to the server that the cycle it commanded last is over.
    void end_cycle();

    void poll_for(std::vector<pollfd>& set) const;
    // Sends and reads all that is possible without waiting.
    void work();

  private:
    static constexpr std::size_t kLongestCommand = 65536;

    void flush();
    bool read();
    void read_commands();
    void take_registration(const ifl::Result<ifl::Reply>& reply);
    void lose(const std::string& why);

    std::string sched_;
    State state_ = State::closed;
    std::string why_closed_;
    int refused_ = 0;
    std::optional<ifl::Exchange> first_;
    ifl::Socket second_;
    std::string out_;  // bytes to send on the second connection
    ifl::PacketReader packets_;
    std::deque<Command> commands_;
};

}  // namespace pbs::openpbs

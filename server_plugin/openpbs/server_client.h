// A scheduler's two connections to OpenPBS's server. On the first it makes its requests; on the second the
// server sends commands, each of which ends with the scheduler's message that its cycle is over.
//
// Nothing here waits. The server may be waiting for this thread while this asks it, so requests are sent as
// the server takes them, and replies are taken when poll() says so.
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

// The server's commands (SCH_* of OpenPBS).
struct Command {
    int number = 0;
    std::string job;  // kRunOne: its id
};
inline constexpr int kConfigure = 6;
inline constexpr int kQuit = 7;
inline constexpr int kRunOne = 11;     // an operator wants this job started
inline constexpr int kStartOver = 16;  // a cycle that is on its way is to start over

class ServerClient {
  public:
    enum class State : std::uint8_t { closed, first, second, registered };

    explicit ServerClient(std::string sched) : sched_(std::move(sched)), packets_(kLongestCommand) {}
    ServerClient(const ServerClient&) = delete;
    ServerClient& operator=(const ServerClient&) = delete;

    // Connects from reserved ports, which takes root, and begins to register.
    ifl::Result<void> open(const ServerPlace& server);
    // Ends the registration. Requests that have no answer get none.
    void close(const std::string& why);

    State state() const { return state_; }
    // The reason why the connection was lost, if close() wasn't asked for.
    const std::string& why_closed() const { return why_closed_; }
    // The server's answer if it refused to register this scheduler; else 0.
    int refused() const { return refused_; }

    // Makes a request. Requests are answered in the order in which they are made. `sink` as for
    // ifl::ReplyDecoder.
    void ask(ifl::RequestType type, ifl::RequestBody body, std::string extend, ifl::Exchange::Done done,
             ifl::ObjectSink sink = {});
    // Makes a request whose type has no reply.
    void tell(ifl::RequestType type, ifl::RequestBody body);
    std::size_t unanswered() const { return first_ ? first_->unanswered() : 0; }
    // Bytes of requests still to be sent.
    std::size_t unsent() const { return first_ ? first_->unsent() : 0; }

    std::optional<Command> next_command();
    // Tells the server that the cycle of the last command is over.
    void end_cycle();

    void poll_for(std::vector<pollfd>& set) const;
    // Sends and reads as much as is possible without waiting.
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

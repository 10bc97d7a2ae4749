// A scheduler's two connections to OpenPBS's server. On the first it makes its requests; on the second the
// server sends commands, each of which ends with what the scheduler says when its cycle is over.
//
// Nothing here waits. The server may be waiting for this thread while this asks it, so requests are put out
// as the server takes them, and what came is taken when poll() says so.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ifl/packet.h"
#include "ifl/reply.h"
#include "ifl/request.h"
#include "ifl/socket.h"
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
inline constexpr int kStartOver = 16;  // of a cycle that is on its way

class ServerClient {
  public:
    // A reply, or why there will be none: the connection has ended.
    using Done = std::function<void(const ifl::Result<ifl::Reply>&)>;
    enum class State : std::uint8_t { closed, first, second, registered };

    explicit ServerClient(std::string sched) : sched_(std::move(sched)), packets_(kLongestCommand) {}
    ServerClient(const ServerClient&) = delete;
    ServerClient& operator=(const ServerClient&) = delete;

    // Connects from reserved ports, which takes root, and begins to register.
    ifl::Result<void> open(const ServerPlace& server);
    // Ends the registration. Requests that have no answer get none.
    void close(const std::string& why);

    State state() const { return state_; }
    // Of a client that is closed, though nobody asked for that.
    const std::string& why_closed() const { return why_closed_; }
    // 0, or the server's answer where it refused to register this scheduler.
    int refused() const { return refused_; }

    // Requests are answered in the order in which they are made. `sink` as for ifl::ReplyDecoder.
    void ask(ifl::RequestType type, ifl::RequestBody body, std::string extend, Done done,
             ifl::ObjectSink sink = {});
    // A request whose type has no reply.
    void tell(ifl::RequestType type, ifl::RequestBody body);
    std::size_t unanswered() const { return asked_.size(); }
    // Of what is to be sent.
    std::size_t unsent() const { return first_.out.size(); }

    std::optional<Command> next_command();
    // The cycle of the last command is over.
    void end_cycle();

    void poll_for(std::vector<pollfd>& set) const;
    // Sends and reads what can be, without waiting.
    void work();

  private:
    static constexpr std::size_t kLongestCommand = 65536;
    struct End {
        ifl::Socket socket;
        std::string out;
    };
    struct Asked {
        Done done;
        ifl::ObjectSink sink;
    };

    void send_register(End& end);
    void flush(End& end);
    bool read(End& end, const std::function<char*(std::size_t)>& room,
              const std::function<void(std::size_t)>& filled);
    void read_replies();
    void read_commands();
    void take_registration(const ifl::Result<ifl::Reply>& reply);
    void lose(const std::string& why);

    std::string sched_;
    State state_ = State::closed;
    std::string why_closed_;
    int refused_ = 0;
    End first_;
    End second_;
    ifl::ReplyDecoder replies_;
    ifl::PacketReader packets_;
    std::deque<Asked> asked_;
    std::deque<Command> commands_;
};

}  // namespace pbs::openpbs

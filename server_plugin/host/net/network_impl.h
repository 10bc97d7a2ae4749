// The private class of Network, for its source files: network.cc (listening, reading, writing, closing),
// network_peers.cc (owners and numbers of connections), network_credentials.cc (credentials that clients
// send), network_tls.cc (encryption) and network_turns.cc (turns of requests, and their memory).
#pragma once

#include <sys/socket.h>
#include <uv.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ifl/auth.h"
#include "ifl/reply.h"
#include "ifl/request.h"
#include "ifl/tls.h"
#include "server_plugin/host/base/guard.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/net/certificate.h"
#include "server_plugin/host/net/clients.h"
#include "server_plugin/host/net/munge_check.h"
#include "server_plugin/host/net/network.h"
#include "server_plugin/host/requests/requests.h"
#include "server_plugin/host/state/identity.h"

namespace pbs::host {

// The bytes that are yet to be sent on a connection, in pieces. Long pieces aren't copied; short ones are
// joined and sent together.
class Unsent {
  public:
    void add(std::string piece) {
        size_ += piece.capacity();
        if (!pieces_.empty() && pieces_.back().size() + piece.size() <= kTogether) {
            pieces_.back() += piece;
        } else {
            pieces_.push_back(std::move(piece));
        }
    }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }
    std::vector<std::string> take() {
        size_ = 0;
        return std::exchange(pieces_, {});
    }

  private:
    static constexpr std::size_t kTogether = size_t{16} << 10;
    std::vector<std::string> pieces_;
    std::size_t size_ = 0;
};

class Network::Impl {
  public:
    using Steady = std::chrono::steady_clock;

    Impl(uv_loop_t* loop, Server& server, NetworkOptions options, std::function<void()> after)
        : loop_(loop),
          server_(server),
          options_(std::move(options)),
          after_(std::move(after)),
          auth_(options_.methods),
          clients_(options_.most_memory, kAlwaysMemory, kUserTurn) {}
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() = default;

    Result<void> listen_socket();
    Result<void> listen_tcp();
    Result<void> start_munge();
    Result<void> start_tls();
    void start_timer();
    void start_check();
    void close();
    uint16_t port() const { return port_; }
    Steady::time_point last_exchange() const { return last_exchange_; }
    std::size_t memory() const { return clients_.bytes(); }

  private:
    // The memory that a user may have in any case, in bytes.
    static constexpr std::size_t kAlwaysMemory = size_t{1} << 20;
    // The longest time that the requests of a user take in one turn.
    static constexpr std::chrono::milliseconds kUserTurn{2};
    static constexpr int kAcceptsOfATurn = 64;

    struct Peer;
    struct OpenRequest;
    // A reply that waits for a commit, either of changes of the plugin's objects or of submissions.
    // when_committed runs after that commit. The held replies of one turn of the loop wait for the same
    // commit.
    struct Held {
        uint64_t peer;
        ifl::Reply reply;
        std::function<void()> when_committed;
    };

    void accept(uv_stream_t* listener, bool local);
    void accept_guarded(uv_stream_t* listener, bool local);
    bool enter(Peer& peer);
    void leave(Peer& peer);
    bool make_room(const Client& newcomer);
    void drop_idlest(const Client& client, std::string_view why);
    void now_known(Peer& peer);
    int first_unprivileged_port();
    bool introduce(Peer& peer, bool local);
    void look_up_host(Peer& peer);
    void confirm_host(Peer& peer, const std::string& name);
    void host_known(Peer& peer, std::string host);
    void read(Peer& peer);
    void take_bytes(Peer& peer, std::string_view bytes);
    bool grows_too_long(Peer& peer);
    bool decrypt(Peer& peer);
    bool encrypt(Peer& peer, std::vector<std::string>& pieces);
    static bool in_progress(const Peer& peer);
    bool may_be_clear(const Peer& peer, const ifl::Request& request) const;
    void refuse_clear(Peer& peer, const ifl::Request& request);
    void serve();
    void step(Peer& peer);
    void take_request(Peer& peer);
    void take_credential(Peer& peer);
    void credential_checked(uint64_t id, const Result<std::string>& user);
    void refuse_credential(Peer& peer, std::string_view why);
    void handle(Peer& peer, ifl::Request request, std::size_t size);
    void answer_on(Peer& peer);
    void note(const OpenRequest& asked, bool refused);
    bool waits_for_memory(const Peer& peer) const;
    bool may_grow(const Peer& peer) const;
    void want_turn(Peer& peer);
    void try_later(Peer& peer);
    void start_later();
    void look_at_later();
    void wait_for_changes(Peer& peer);
    void look_at_waiting(bool for_ends);
    void give_turn(Peer& peer);
    void drop_ended(std::vector<Peer*>& peers);
    void drop_ended_programs(const Peer& newcomer);
    void recount(Peer& peer);
    void return_memory();
    void send(Peer& peer, ifl::Reply reply, bool close_after);
    void send_part(Peer& peer, ifl::StatusPart part, bool more);
    void write(Peer& peer);
    void settle();
    void finish(Peer& peer);
    void drop(Peer& peer, std::string_view why);
    // Calls `action`. If `action` throws, closes the connection.
    template <typename Action>
    void guard(Peer& peer, Action&& action) {
        if (!guarded(server_.parts.log, "connection", action)) drop(peer, "");
    }
    void sweep();
    void drop_all();
    void close_timer_if_done();

    uv_loop_t* loop_;
    Server& server_;
    NetworkOptions options_;
    std::function<void()> after_;
    uv_pipe_t socket_{};
    uv_tcp_t tcp_{};
    uv_timer_t timer_{};
    uv_check_t turn_end_{};
    uv_idle_t no_wait_{};
    uv_timer_t later_timer_{};
    uv_timer_t waiting_timer_{};
    uv_prepare_t before_wait_{};
    bool socket_open_ = false;
    bool tcp_open_ = false;
    bool timer_open_ = false;
    bool turn_end_open_ = false;
    bool closing_ = false;
    bool unaccepted_socket_ = false;
    bool unaccepted_tcp_ = false;
    int accepts_left_ = kAcceptsOfATurn;
    uint16_t port_ = 0;
    int unprivileged_port_ = 1024;
    Steady::time_point unprivileged_port_read_{};
    ifl::AuthTable auth_;
    uint64_t next_id_ = 1;
    std::unordered_map<uint64_t, Peer*> peers_;
    Clients clients_;
    std::map<std::string, std::size_t, std::less<>> per_address_;  // TCP connections from other hosts
    std::unique_ptr<MungeCheck> munge_;                            // nullptr: MUNGE is not among the methods
    std::unique_ptr<Certificate> certificate_;                     // nullptr: no TLS
    std::vector<uint64_t> later_;                                  // connections whose answer has to wait
    // Connections whose step waits for a change (Steps::waits), and the plugin's last change when they were
    // looked at last.
    std::vector<uint64_t> waiting_;
    int64_t looked_at_change_ = 0;
    std::size_t most_bytes_since_return_ = 0;
    Steady::time_point returned_{};
    Steady::time_point last_exchange_{};
    std::vector<Held> held_;         // in the order of the requests
    bool submissions_held_ = false;  // held_ has replies to submissions, not to other requests
    // Collects the log's lines about requests. It is reset before any reply is sent; that writes the lines.
    std::optional<Log::Together> lines_;
    std::vector<char> buffer_ = std::vector<char>(size_t{64} << 10);  // the bytes of the present read
    std::vector<char> plain_ = std::vector<char>(size_t{16} << 10);   // the decrypted data of a TLS record
};

// A request that is being answered, perhaps in several steps.
struct Network::Impl::OpenRequest {
    ifl::Request request;
    Identity who;
    std::size_t size;  // bytes of the request in memory
    Context context;
    int64_t came = context.now;  // the time of the request, by the server's clock
    ifl::StatusParts parts{};    // parts of the reply that are still to be sent
    bool shown = false;          // some parts of the reply have been sent
    Steady::time_point began = Steady::now();

    OpenRequest(Server& server, Session& session, ifl::Request asked, Identity identity, std::size_t bytes)
        : request(std::move(asked)),
          who(std::move(identity)),
          size(bytes),
          context{server, who, server.now(), request, session} {}
};

// A connection. It frees itself when its handle is closed and its look-ups of names have ended.
struct Network::Impl::Peer {
    Impl& network;
    uint64_t id;
    union {
        uv_stream_t stream;
        uv_pipe_t pipe;
        uv_tcp_t tcp;
    } handle{};
    bool local = false;
    std::string key;      // names the connection in the log: "uid 1000", or the address
    std::string address;  // numeric; empty on the Unix socket
    sockaddr_storage socket_address{};
    std::string host;  // the client's host; empty: not known yet
    ifl::RequestDecoder decoder{ifl::RequestLimits::before_authentication()};
    bool begun = false;                    // the client has sent something
    std::unique_ptr<ifl::TlsSession> tls;  // nullptr: not encrypted
    bool other_host = false;
    bool full_limits = false;
    // The client of the connection; nullptr when the connection is being closed.
    Client* client = nullptr;
    // The bytes of the client's memory that this connection uses.
    std::size_t bytes = 0;
    // True if the client counts the connection as busy.
    bool busy = false;
    enum class Turn { none, ready, memory, later } turn = Turn::none;  // what the connection waits for
    bool unread = false;                                               // unread bytes may hold a request
    std::unique_ptr<OpenRequest> asked;  // the request that is answered in steps
    Session session;
    Steady::time_point since = Steady::now();    // the beginning of the connection
    Steady::time_point used = Steady::now();     // time of the connection's last request
    Steady::time_point waiting = Steady::now();  // since when an incomplete request waits for more
    Steady::time_point write_began{};
    Unsent unsent;  // replies that follow those that are being written
    bool writing = false;
    std::size_t being_written = 0;  // bytes that are being written
    std::size_t held = 0;           // number of the connection's replies in held_
    bool close_after_write = false;
    bool closing = false;
    bool reading = false;
    bool checked = false;  // the connection's credential is being checked; nothing is read from it meanwhile
    int lookups = 0;

    Peer(Impl& owner, uint64_t number) : network(owner), id(number) {}
    // The number of bytes that wait to be sent or are being sent.
    std::size_t outgoing() const {
        return unsent.size() + being_written + (tls != nullptr ? tls->unsent() : 0);
    }
    void release() {
        if (closing && lookups == 0) delete this;
    }
};

}  // namespace pbs::host

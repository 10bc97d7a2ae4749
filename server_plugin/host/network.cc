#include "server_plugin/host/network.h"

#include <fmt/format.h>
#include <malloc.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ifl/auth.h"
#include "ifl/pbs_error.h"
#include "ifl/reply.h"
#include "ifl/request.h"
#include "server_plugin/host/clients.h"
#include "server_plugin/host/guard.h"
#include "server_plugin/host/identity.h"
#include "server_plugin/host/log.h"
#include "server_plugin/host/plugin.h"
#include "server_plugin/host/requests/requests.h"
#include "server_plugin/host/users.h"

namespace pbs::host {
namespace {

using Steady = std::chrono::steady_clock;

constexpr uint64_t last_reply_ms = 2000;
// Until a step that has to wait for something is tried again.
constexpr uint64_t later_ms = 5;
// A connection has another turn when fewer bytes of replies wait for it to be read.
constexpr std::size_t most_unsent = size_t{256} << 10;
// An answer that is made in steps has another turn after so many bytes.
constexpr std::size_t most_of_a_turn = size_t{64} << 10;
// What a user may have at any rate.
constexpr std::size_t always_memory = size_t{1} << 20;
// A request that isn't whole may be as long as this however much memory its user has.
constexpr std::size_t small_input = size_t{128} << 10;
// What an object made of a request takes, by its bytes.
constexpr std::size_t decoded_by_bytes = 3;
// It goes back to the system when there was so much more of it.
constexpr std::size_t memory_to_return = size_t{16} << 20;
constexpr std::chrono::seconds between_returns{10};
// Of one user, and of all until the loop looks for what else there is.
constexpr std::chrono::milliseconds user_turn{2};
constexpr std::chrono::milliseconds loop_turn{10};
constexpr int accepts_of_a_turn = 64;
// Requests that are committed together at most, so that nobody waits long for the others of his group.
constexpr std::size_t most_held = 1024;

std::string address_text(const sockaddr_storage& address, uint16_t& port) {
    char text[INET6_ADDRSTRLEN] = "";
    if (address.ss_family == AF_INET) {
        const auto* v4 = reinterpret_cast<const sockaddr_in*>(&address);
        uv_ip4_name(v4, text, sizeof text);
        port = ntohs(v4->sin_port);
        return text;
    }
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(&address);
    uv_ip6_name(v6, text, sizeof text);
    port = ntohs(v6->sin6_port);
    const std::string_view mapped = "::ffff:";
    return std::string_view(text).starts_with(mapped) ? std::string(text).substr(mapped.size()) : text;
}

// Is it an address of this machine? Its clients are then "at" the server's own host.
bool is_own_address(const std::string& address) {
    if (address == "::1" || address.starts_with("127.")) return true;
    uv_interface_address_t* interfaces = nullptr;
    int count = 0;
    if (uv_interface_addresses(&interfaces, &count) != 0) return false;
    bool own = false;
    for (int i = 0; i < count; ++i) {
        sockaddr_storage one{};
        std::memcpy(&one, &interfaces[i].address, sizeof interfaces[i].address);
        uint16_t port = 0;
        own = own || address_text(one, port) == address;
    }
    uv_free_interface_addresses(interfaces, count);
    return own;
}

bool is_among(const std::string& address, const addrinfo* list) {
    for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
        sockaddr_storage other{};
        std::memcpy(&other, one->ai_addr, one->ai_addrlen);
        uint16_t port = 0;
        if (address_text(other, port) == address) return true;
    }
    return false;
}

// A status reply goes out in parts, as clients expect of long ones.
std::vector<std::string> packets_of(ifl::Reply reply) {
    auto* status = std::get_if<ifl::StatusReply>(&reply.body);
    if (status != nullptr && reply.code == 0) return ifl::status_packets(std::move(*status));
    return {ifl::reply_packet(reply)};
}

// Bytes that wait to be sent, in pieces: long ones are not copied, short ones are sent together.
class Unsent {
  public:
    void add(std::string piece) {
        size_ += piece.capacity();
        if (!pieces_.empty() && pieces_.back().size() + piece.size() <= together) {
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
    static constexpr std::size_t together = size_t{16} << 10;
    std::vector<std::string> pieces_;
    std::size_t size_ = 0;
};

// Does the request change an object of the plugin's own? Those of one turn of the loop are committed
// together.
bool changes_plugin_object(const ifl::Request& request) {
    const auto* manage = std::get_if<ifl::Manage>(&request.body);
    return request.type == ifl::RequestType::manager && manage != nullptr &&
           is_plugin_type(manage->object_type);
}

}  // namespace

class Network::Impl {
  public:
    Impl(uv_loop_t* loop, Server& server, NetworkOptions options, std::function<void()> after)
        : loop_(loop),
          server_(server),
          options_(std::move(options)),
          after_(std::move(after)),
          clients_(options_.most_memory, always_memory, user_turn) {}
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() = default;

    Result<void> listen_socket();
    Result<void> listen_tcp();
    void start_timer();
    void start_check();
    void close();
    uint16_t port() const { return port_; }
    std::size_t memory() const { return clients_.bytes(); }

  private:
    struct Peer;
    struct Asked;
    // A reply that waits for the plugin's commit, and what is to be done then.
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
    void serve();
    void step(Peer& peer);
    void take_request(Peer& peer);
    void handle(Peer& peer, ifl::Request request, std::size_t size);
    void answer_on(Peer& peer);
    bool waits_for_memory(const Peer& peer) const;
    bool may_grow(const Peer& peer) const;
    void want_turn(Peer& peer);
    void try_later(Peer& peer);
    void recount(Peer& peer);
    void return_memory();
    void send(Peer& peer, ifl::Reply reply, bool close_after);
    void send_part(Peer& peer, ifl::StatusPart part, bool more);
    void write(Peer& peer);
    void settle();
    void finish(Peer& peer);
    void drop(Peer& peer, std::string_view why);
    // An exception costs the connection.
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
    bool socket_open_ = false;
    bool tcp_open_ = false;
    bool timer_open_ = false;
    bool turn_end_open_ = false;
    bool closing_ = false;
    bool unaccepted_socket_ = false;
    bool unaccepted_tcp_ = false;
    int accepts_left_ = accepts_of_a_turn;
    uint16_t port_ = 0;
    int unprivileged_port_ = 1024;
    Steady::time_point unprivileged_port_read_{};
    ifl::AuthTable auth_;
    uint64_t next_id_ = 1;
    std::unordered_map<uint64_t, Peer*> peers_;
    Clients clients_;
    std::map<std::string, std::size_t, std::less<>> per_address_;  // connections over TCP from other hosts
    std::vector<uint64_t> later_;                                  // connections whose step has to wait
    std::size_t most_bytes_since_return_ = 0;
    Steady::time_point returned_{};
    std::vector<Held> held_;                                          // in the order of the requests
    std::vector<char> buffer_ = std::vector<char>(size_t{64} << 10);  // one read at a time uses it
};

// A request that is being answered.
struct Network::Impl::Asked {
    ifl::Request request;
    Identity who;
    std::size_t size;  // of the request, in memory
    Context context;
    ifl::StatusParts parts{};  // of the reply, that are yet to be sent
    bool shown = false;        // some have been

    Asked(Server& server, Session& session, ifl::Request asked, Identity identity, std::size_t bytes)
        : request(std::move(asked)),
          who(std::move(identity)),
          size(bytes),
          context{server, who, server.now(), request, session} {}
};

// One connection. It owns itself: freed when its handle and its lookups have ended.
struct Network::Impl::Peer {
    Impl& network;
    uint64_t id;
    union {
        uv_stream_t stream;
        uv_pipe_t pipe;
        uv_tcp_t tcp;
    } handle{};
    bool local = false;
    std::string key;      // names it in the log: "uid 1000", or its address
    std::string address;  // numeric; empty on the Unix socket
    sockaddr_storage socket_address{};
    std::string host;  // empty until it is known
    ifl::RequestDecoder decoder{ifl::RequestLimits::before_authentication()};
    bool other_host = false;
    bool full_limits = false;
    Client* client = nullptr;                                          // whose it is; none once it's closing
    std::size_t bytes = 0;                                             // of it that count there
    bool busy = false;                                                 // and that it's busy
    enum class Turn { none, ready, memory, later } turn = Turn::none;  // what it waits for
    bool unread = false;           // something has come that may be a request
    std::unique_ptr<Asked> asked;  // what is being answered in steps
    Session session;
    Steady::time_point since = Steady::now();    // of the connection
    Steady::time_point used = Steady::now();     // its last request
    Steady::time_point waiting = Steady::now();  // since when a begun request waits
    Steady::time_point write_began{};
    Unsent unsent;  // replies behind those that are being written
    bool writing = false;
    std::size_t being_written = 0;  // bytes
    std::size_t held = 0;           // its replies that wait for a commit
    bool close_after_write = false;
    bool closing = false;
    bool reading = false;
    int lookups = 0;

    Peer(Impl& owner, uint64_t number) : network(owner), id(number) {}
    void release() {
        if (closing && lookups == 0) delete this;
    }
};

Result<void> Network::Impl::listen_socket() {
    unlink(options_.socket.c_str());
    uv_pipe_init(loop_, &socket_, 0);
    socket_open_ = true;
    socket_.data = this;
    int code = uv_pipe_bind(&socket_, options_.socket.c_str());
    if (code == 0 && chmod(options_.socket.c_str(), 0666) != 0) code = -errno;
    if (code == 0)
        code =
            uv_listen(reinterpret_cast<uv_stream_t*>(&socket_), 512, [](uv_stream_t* listener, int status) {
                if (status == 0) static_cast<Impl*>(listener->data)->accept_guarded(listener, true);
            });
    if (code != 0)
        return fail(PBSE_SYSTEM, fmt::format("can not listen on {}: {}", options_.socket, uv_strerror(code)));
    return {};
}

Result<void> Network::Impl::listen_tcp() {
    sockaddr_storage address{};
    const bool v4 =
        uv_ip4_addr(options_.bind.c_str(), options_.port, reinterpret_cast<sockaddr_in*>(&address)) == 0;
    if (!v4 &&
        uv_ip6_addr(options_.bind.c_str(), options_.port, reinterpret_cast<sockaddr_in6*>(&address)) != 0)
        return fail(PBSE_BADATVAL,
                    fmt::format("can not listen on \"{}\": expected a numeric address", options_.bind));
    uv_tcp_init(loop_, &tcp_);
    tcp_open_ = true;
    tcp_.data = this;
    int code = uv_tcp_bind(&tcp_, reinterpret_cast<sockaddr*>(&address), 0);
    if (code == 0)
        code = uv_listen(reinterpret_cast<uv_stream_t*>(&tcp_), 512, [](uv_stream_t* listener, int status) {
            if (status == 0) static_cast<Impl*>(listener->data)->accept_guarded(listener, false);
        });
    if (code != 0)
        return fail(PBSE_SYSTEM, fmt::format("can not listen on {} port {}: {}", options_.bind, options_.port,
                                             uv_strerror(code)));
    sockaddr_storage bound{};
    int size = sizeof bound;
    uv_tcp_getsockname(&tcp_, reinterpret_cast<sockaddr*>(&bound), &size);
    (void)address_text(bound, port_);
    return {};
}

void Network::Impl::start_timer() {
    uv_timer_init(loop_, &timer_);
    timer_open_ = true;
    timer_.data = this;
    uv_timer_start(
        &timer_,
        [](uv_timer_t* timer) {
            auto& network = *static_cast<Impl*>(timer->data);
            guarded(network.server_.parts.log, "connections", [&network] { network.sweep(); });
        },
        1000, 1000);
    uv_unref(reinterpret_cast<uv_handle_t*>(&timer_));
}

// What isn't accepted is kept by libuv, which takes no other until it is. So there are never so many at once
// that nobody else is served. After a failure the sweep tries again.
void Network::Impl::accept_guarded(uv_stream_t* listener, bool local) {
    bool& unaccepted = local ? unaccepted_socket_ : unaccepted_tcp_;
    unaccepted = true;
    if (accepts_left_ == 0) {
        uv_idle_start(&no_wait_, [](uv_idle_t*) {});
        return;
    }
    --accepts_left_;
    if (guarded(server_.parts.log, "connection", [&] { accept(listener, local); })) unaccepted = false;
}

// Right after what could be read has been read.
void Network::Impl::start_check() {
    uv_idle_init(loop_, &no_wait_);
    uv_timer_init(loop_, &later_timer_);
    later_timer_.data = this;
    uv_check_init(loop_, &turn_end_);
    turn_end_open_ = true;
    turn_end_.data = this;
    uv_check_start(&turn_end_, [](uv_check_t* check) {
        auto& network = *static_cast<Impl*>(check->data);
        guarded(network.server_.parts.log, "requests", [&network] { network.serve(); });
    });
    uv_unref(reinterpret_cast<uv_handle_t*>(&turn_end_));
}

void Network::Impl::accept(uv_stream_t* listener, bool local) {
    auto made = std::make_unique<Peer>(*this, next_id_++);
    peers_[made->id] = made.get();
    Peer& peer = *made.release();
    peer.local = local;
    if (local) {
        uv_pipe_init(loop_, &peer.handle.pipe, 0);
    } else {
        uv_tcp_init(loop_, &peer.handle.tcp);
    }
    peer.handle.stream.data = &peer;
    if (uv_accept(listener, &peer.handle.stream) != 0) {
        drop(peer, "");
        return;
    }
    guard(peer, [&] {
        if (!introduce(peer, local)) {
            drop(peer, "");
        } else if (!enter(peer)) {
            drop(peer, "too many connections");
        } else if (!peer.host.empty()) {
            read(peer);
        } else {
            look_up_host(peer);
        }
    });
}

// The connection is one of its user's from now on, or until he is known, of its address's. A manager isn't
// taken for others of his name on other hosts. False: there are too many.
bool Network::Impl::enter(Peer& peer) {
    const auto user = auth_.user(peer.id);
    std::string name = "address " + peer.address;
    bool manager = false;
    if (user) {
        manager =
            (privilege_of(server_.state, server_.options.starter, *user, peer.host) & privilege_manager) != 0;
        name = manager ? fmt::format("user {}@{}", *user, peer.host) : fmt::format("user {}", *user);
    }
    Client& client = clients_.join(name);
    client.manager = manager;
    const bool first = peer.client == nullptr;
    leave(peer);
    peer.client = &client;
    peer.busy = false;
    recount(peer);
    if (client.connections > (user ? options_.most_per_user : options_.most_unknown_per_address)) {
        if (!manager) return false;
        drop_idlest(client, "a newer connection takes its place");
    }
    if (!first) return true;
    if (peer.other_host && per_address_[peer.address] > options_.most_per_address) return false;
    return peers_.size() <= options_.most_connections || make_room(client);
}

void Network::Impl::leave(Peer& peer) {
    if (peer.client == nullptr) return;
    clients_.forget(*peer.client, peer.id);
    clients_.count(*peer.client, -static_cast<std::ptrdiff_t>(std::exchange(peer.bytes, 0)),
                   std::exchange(peer.busy, false) ? -1 : 0);
    clients_.leave(*std::exchange(peer.client, nullptr));
    peer.turn = Peer::Turn::none;
}

// All connections are taken: who has most of them loses one, if he'd still have as many as the newcomer. A
// manager gets one in any case.
bool Network::Impl::make_room(const Client& newcomer) {
    const Client* most = clients_.largest(newcomer.manager);
    if (most == nullptr || (!newcomer.manager && most->connections <= newcomer.connections)) return false;
    drop_idlest(*most, "its user has most of all connections, and there are no more");
    return true;
}

void Network::Impl::drop_idlest(const Client& client, std::string_view why) {
    Peer* idlest = nullptr;
    for (const auto& [id, peer] : peers_)
        if (peer->client == &client && (idlest == nullptr || peer->used < idlest->used)) idlest = peer;
    if (idlest != nullptr) drop(*idlest, why);
}

// A TCP connection whose user has become known is one of his, not one of its address.
void Network::Impl::now_known(Peer& peer) {
    peer.full_limits = true;
    peer.decoder.set_limits(ifl::RequestLimits{});
    if (!peer.local && !enter(peer)) drop(peer, "too many connections");
}

// Who is at the other end, as far as the kernel knows.
bool Network::Impl::introduce(Peer& peer, bool local) {
    if (local) {
        uv_os_fd_t fd = -1;
        ucred credentials{};
        socklen_t size = sizeof credentials;
        if (uv_fileno(reinterpret_cast<uv_handle_t*>(&peer.handle.stream), &fd) != 0 ||
            getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
            return false;
        const auto user = find_user(credentials.uid);
        // A uid without a name can't own jobs; it may look.
        const std::string name = user ? user->name : fmt::format("{}", credentials.uid);
        peer.key = "uid " + std::to_string(credentials.uid);
        peer.session.from = peer.key + " on the Unix socket";
        peer.host = server_.state.host_name;
        auth_.add_local(peer.id, name);
        return true;
    }
    int size = sizeof peer.socket_address;
    if (uv_tcp_getpeername(&peer.handle.tcp, reinterpret_cast<sockaddr*>(&peer.socket_address), &size) != 0)
        return false;
    uint16_t port = 0;
    peer.address = address_text(peer.socket_address, port);
    peer.key = peer.address;
    peer.session.from = fmt::format("{} port {}", peer.address, port);
    uv_tcp_nodelay(&peer.handle.tcp, 1);
    uv_tcp_keepalive(&peer.handle.tcp, 1, 60);
    const bool own = is_own_address(peer.address);
    peer.other_host = !own;
    if (peer.other_host) ++per_address_[peer.address];
    auth_.add_tcp(peer.id, peer.address, port, own ? first_unprivileged_port() : 1024);
    if (own) peer.host = server_.state.host_name;
    return true;
}

// The first port that anybody on this machine may bind (0 in many containers): what comes from such a port
// says nothing of who sent it. An administrator may change it: it is read again, at most once a second.
int Network::Impl::first_unprivileged_port() {
    const auto now = Steady::now();
    if (now - unprivileged_port_read_ < std::chrono::seconds(1)) return unprivileged_port_;
    unprivileged_port_read_ = now;
    unprivileged_port_ = 1024;
    std::ifstream("/proc/sys/net/ipv4/ip_unprivileged_port_start") >> unprivileged_port_;
    return unprivileged_port_;
}

// The name of another machine is the one that its address has in the DNS, if that name has this address; else
// the address itself, as where it is this machine's name. Off the loop, since it may take long.
void Network::Impl::look_up_host(Peer& peer) {
    auto* request = new uv_getnameinfo_t;
    request->data = &peer;
    ++peer.lookups;
    const int code = uv_getnameinfo(
        loop_, request,
        [](uv_getnameinfo_t* done, int status, const char* name, const char*) {
            auto& found = *static_cast<Peer*>(done->data);
            const std::unique_ptr<uv_getnameinfo_t> ended(done);
            --found.lookups;
            if (found.closing) {
                found.release();
                return;
            }
            found.network.guard(found, [&] {
                if (status == 0 && name != nullptr && *name != '\0') {
                    found.network.confirm_host(found, name);
                } else {
                    found.network.host_known(found, found.address);
                }
            });
        },
        reinterpret_cast<const sockaddr*>(&peer.socket_address), NI_NAMEREQD);
    if (code == 0) return;
    delete request;
    --peer.lookups;
    host_known(peer, peer.address);
}

void Network::Impl::confirm_host(Peer& peer, const std::string& name) {
    struct Lookup {
        uv_getaddrinfo_t request;
        Peer* peer;
        std::string name;
    };
    auto* lookup = new Lookup{{}, &peer, name};
    lookup->request.data = lookup;
    ++peer.lookups;
    const int code = uv_getaddrinfo(
        loop_, &lookup->request,
        [](uv_getaddrinfo_t* done, int status, addrinfo* list) {
            const std::unique_ptr<Lookup> ended(static_cast<Lookup*>(done->data));
            const std::unique_ptr<addrinfo, decltype(&uv_freeaddrinfo)> addresses(
                status == 0 ? list : nullptr, uv_freeaddrinfo);
            Peer& found = *ended->peer;
            --found.lookups;
            if (found.closing) {
                found.release();
                return;
            }
            found.network.guard(found, [&] {
                const bool same = is_among(found.address, addresses.get());
                found.network.host_known(found, same ? lower(ended->name) : found.address);
            });
        },
        name.c_str(), nullptr, nullptr);
    if (code == 0) return;
    delete lookup;
    --peer.lookups;
    host_known(peer, peer.address);
}

void Network::Impl::host_known(Peer& peer, std::string host) {
    peer.host = name_of_other_host(server_.state, std::move(host), peer.address);
    read(peer);
}

void Network::Impl::read(Peer& peer) {
    if (peer.closing || peer.reading) return;
    peer.reading = true;
    uv_read_start(
        &peer.handle.stream,
        [](uv_handle_t* handle, size_t, uv_buf_t* buffer) {
            auto& network = static_cast<Peer*>(handle->data)->network;
            *buffer = uv_buf_init(network.buffer_.data(), static_cast<unsigned>(network.buffer_.size()));
        },
        [](uv_stream_t* stream, ssize_t size, const uv_buf_t* buffer) {
            auto& from = *static_cast<Peer*>(stream->data);
            if (size == UV_EOF) {
                from.network.guard(from, [&] { from.network.finish(from); });
            } else if (size < 0) {
                from.network.drop(from, "");
            } else if (size > 0) {
                if (!from.decoder.in_progress()) from.waiting = Steady::now();
                from.network.guard(from, [&] {
                    from.decoder.feed({buffer->base, static_cast<size_t>(size)});
                    from.unread = true;
                    from.network.recount(from);
                    if (from.decoder.size() > small_input && !from.network.may_grow(from)) {
                        from.network.drop(from, "too many requests of its user that aren't whole");
                    } else {
                        from.network.want_turn(from);
                    }
                });
            }
        });
}

// Who has something to do gets a turn: for so long, then the loop looks for what else there is. What is to be
// committed then is.
void Network::Impl::serve() {
    if (closing_) return;
    accepts_left_ = accepts_of_a_turn;
    if (unaccepted_socket_) accept_guarded(reinterpret_cast<uv_stream_t*>(&socket_), true);
    if (unaccepted_tcp_) accept_guarded(reinterpret_cast<uv_stream_t*>(&tcp_), false);
    const auto until = Steady::now() + loop_turn;
    for (auto begin = Steady::now(); begin < until && !closing_;) {
        const auto turn = clients_.next();
        if (!turn) break;
        Peer& peer = *peers_.at(turn->connection);
        peer.turn = Peer::Turn::none;
        if (waits_for_memory(peer)) {
            want_turn(peer);
            continue;
        }
        guard(peer, [&] {
            step(peer);
            write(peer);
            recount(peer);
        });
        const auto end = Steady::now();
        if (!peer.closing) {
            clients_.took(*peer.client, end - begin);
            want_turn(peer);
        }
        begin = end;
    }
    settle();
    if (clients_.anybody_ready()) {
        uv_idle_start(&no_wait_, [](uv_idle_t*) {});
    } else {
        uv_idle_stop(&no_wait_);
    }
}

void Network::Impl::step(Peer& peer) {
    if (!peer.full_limits && auth_.known(peer.id)) now_known(peer);
    if (peer.closing || peer.close_after_write) return;
    if (peer.asked != nullptr) {
        answer_on(peer);
    } else {
        take_request(peer);
    }
}

// Its next turn, if there is anything to do and room for what comes of it. A connection is read from when all
// that has come of it is answered, or is being written.
void Network::Impl::want_turn(Peer& peer) {
    using Turn = Peer::Turn;
    if (peer.closing || peer.close_after_write || closing_ || peer.turn == Turn::later) return;
    if (peer.asked == nullptr && !peer.unread) {
        read(peer);
        return;
    }
    if (std::exchange(peer.reading, false)) uv_read_stop(&peer.handle.stream);
    if (peer.turn != Turn::none) {
        clients_.forget(*peer.client, peer.id);
        peer.turn = Turn::none;
    }
    if (peer.unsent.size() + peer.being_written >= most_unsent)
        return;  // the end of a write calls this again
    if (waits_for_memory(peer)) {
        peer.turn = Turn::memory;
        clients_.want_memory(*peer.client, peer.id);
    } else {
        peer.turn = Turn::ready;
        clients_.want_turn(*peer.client, peer.id);
        uv_idle_start(&no_wait_, [](uv_idle_t*) {});
    }
}

// A user who has too much already gets no more on connections that have something on its way; on the others
// he may begin, up to a harder bound, and gets a part at a time. An answer that is made before any of it is
// sent has its memory from its beginning on. So there's always something that goes on until its memory is
// free again.
bool Network::Impl::waits_for_memory(const Peer& peer) const {
    if (clients_.may_take(*peer.client) || peer.client->busy == 0) return false;
    const bool on_its_way = peer.unsent.size() + peer.being_written != 0;
    if (peer.asked == nullptr) return on_its_way || !clients_.may_begin(*peer.client);
    return on_its_way && peer.asked->context.rest->size() == 0;
}

// One connection of each user may always have what a request can need.
bool Network::Impl::may_grow(const Peer& peer) const {
    return clients_.may_take(*peer.client) || peer.client->bytes - peer.bytes <= always_memory;
}

void Network::Impl::recount(Peer& peer) {
    if (peer.client == nullptr) return;
    const auto& submission = peer.session.submission;
    std::size_t bytes = peer.decoder.size() + peer.unsent.size() + peer.being_written +
                        (submission ? submission->script.capacity() : 0);
    if (peer.asked != nullptr)
        bytes += peer.asked->size + peer.asked->parts.bytes() + peer.asked->context.rest->size();
    const bool busy = peer.asked != nullptr || peer.writing || !peer.unsent.empty();
    const int busy_more = static_cast<int>(busy) - static_cast<int>(peer.busy);
    const auto more = static_cast<std::ptrdiff_t>(bytes) - static_cast<std::ptrdiff_t>(peer.bytes);
    peer.bytes = bytes;
    peer.busy = busy;
    clients_.count(*peer.client, more, busy_more);
    most_bytes_since_return_ = std::max(most_bytes_since_return_, clients_.bytes());
}

void Network::Impl::take_request(Peer& peer) {
    const std::size_t unread = peer.decoder.unread();
    auto decoded = peer.decoder.next();
    if (std::holds_alternative<ifl::RequestDecoder::NeedMore>(decoded)) {
        peer.unread = false;
    } else if (auto* bad = std::get_if<ifl::RequestDecoder::Malformed>(&decoded)) {
        server_.parts.log.write(LogEvent::debug, LogClass::request, peer.key,
                                fmt::format("bad request: {}", bad->error.message));
        settle();
        send(peer, ifl::Reply::error(bad->error.code), true);
    } else {
        peer.waiting = Steady::now();
        handle(peer, std::get<ifl::Request>(std::move(decoded)), unread - peer.decoder.unread());
    }
}

void Network::Impl::handle(Peer& peer, ifl::Request request, std::size_t size) {
    // Whatever else is asked is answered by what is committed.
    // Connecting and the like read no configuration: they wait for their own connection's replies only.
    ifl::AuthDecision decision = auth_.judge(peer.id, request);
    const bool handled = decision.action == ifl::AuthDecision::Action::handle;
    const bool grouped = handled && changes_plugin_object(request);
    if (grouped ? held_.size() >= most_held : handled || peer.held != 0) settle();
    if (peer.closing) return;
    if (!decision.reason.empty())
        server_.parts.log.write(LogEvent::security, LogClass::request, peer.key,
                                fmt::format("refused: {}", decision.reason));
    peer.used = Steady::now();
    switch (decision.action) {
        case ifl::AuthDecision::Action::close:
            finish(peer);
            return;
        case ifl::AuthDecision::Action::reply:
            send(peer, std::move(decision.reply), false);
            return;
        case ifl::AuthDecision::Action::reply_and_close:
            send(peer, std::move(decision.reply), true);
            return;
        case ifl::AuthDecision::Action::handle:
            break;
    }
    Identity who;
    who.user = auth_.user(peer.id).value_or("");
    who.host = peer.host;
    who.privilege = privilege_of(server_.state, server_.options.starter, who.user, who.host);
    server_.parts.log.write(
        LogEvent::debug2, LogClass::request, peer.key,
        fmt::format("request {} from {}", ifl::request_name(request.type), who.at_host()));
    if (request.type == ifl::RequestType::job_script && peer.session.submission && !may_grow(peer)) {
        peer.session.submission.reset();
        send(peer,
             ifl::Reply::error(PBSE_SYSTEM,
                               "The scripts that you are submitting at once are too long together: "
                               "submit this one again when the others are queued"),
             false);
        return;
    }
    auto asked = std::make_unique<Asked>(server_, peer.session, std::move(request), std::move(who),
                                         decoded_by_bytes * size);
    Context& context = asked->context;
    ifl::Reply reply = begin_answer(context);
    if (context.rest != nullptr) {
        peer.asked = std::move(asked);
        answer_on(peer);
        return;
    }
    // A refusal may be for what an uncommitted request did: it waits with that.
    if (server_.parts.plugin != nullptr && server_.parts.plugin->uncommitted()) {
        held_.push_back({peer.id, std::move(reply), std::move(context.when_committed)});
        ++peer.held;
        if (!grouped) settle();
        return;
    }
    if (context.when_committed) context.when_committed();
    const bool close_after = reply.code == PBSE_UNKREQ;
    if (ifl::has_reply(context.request.type)) send(peer, std::move(reply), close_after);
    after_();
}

// A turn's part of an answer that is made in steps.
void Network::Impl::answer_on(Peer& peer) {
    using Left = Steps::Left;
    Asked& asked = *peer.asked;
    const auto until = Steady::now() + user_turn;
    std::optional<ifl::Reply> instead;
    Left left;
    do left = go_on(asked.context, asked.parts, asked.shown, instead);
    while (left == Left::more && asked.parts.bytes() < most_of_a_turn && Steady::now() < until);
    if (instead && (asked.shown || !asked.parts.empty())) {
        drop(peer, "its reply could not be made whole");
        return;
    }
    if (left == Left::nothing) {
        if (instead) {
            send(peer, std::move(*instead), false);
        } else {
            for (ifl::StatusPart& part : asked.parts.take_full()) send_part(peer, std::move(part), true);
            for (ifl::StatusPart& part : asked.parts.take()) send_part(peer, std::move(part), false);
        }
        peer.asked.reset();
        after_();
        return;
    }
    for (ifl::StatusPart& part : asked.parts.take_full()) {
        send_part(peer, std::move(part), true);
        asked.shown = true;
    }
    if (left == Left::later) try_later(peer);
}

void Network::Impl::try_later(Peer& peer) {
    peer.turn = Peer::Turn::later;
    later_.push_back(peer.id);
    if (later_.size() > 1) return;
    uv_update_time(loop_);
    uv_timer_start(
        &later_timer_,
        [](uv_timer_t* timer) {
            auto& network = *static_cast<Impl*>(timer->data);
            for (const uint64_t id : std::exchange(network.later_, {})) {
                const auto at = network.peers_.find(id);
                if (at == network.peers_.end() || at->second->turn != Peer::Turn::later) continue;
                at->second->turn = Peer::Turn::none;
                network.guard(*at->second, [&] { network.want_turn(*at->second); });
            }
        },
        later_ms, 0);
}

// Commits what the requests since the last time did, all of it at once, and lets their replies go. If that
// fails, nothing of it has been done, and each of them is told so.
void Network::Impl::settle() {
    if (held_.empty()) return;
    std::vector<Held> held = std::exchange(held_, {});
    const Result<void> done = server_.parts.plugin->commit(server_.now());
    if (!done)
        server_.parts.log.error("commit",
                                fmt::format("{} requests failed: {}", held.size(), done.error().message));
    std::vector<uint64_t> answered;
    for (Held& one : held) {
        if (done && one.when_committed) guarded(server_.parts.log, "after a commit", one.when_committed);
        const auto to = peers_.find(one.peer);
        if (to == peers_.end()) continue;
        Peer& peer = *to->second;
        --peer.held;
        // A reply that can't be made costs its own connection, not the others' replies.
        guard(peer, [&] {
            send(peer,
                 done ? std::move(one.reply) : ifl::Reply::error(done.error().code, done.error().message),
                 false);
        });
        if (answered.empty() || answered.back() != one.peer) answered.push_back(one.peer);
    }
    for (const uint64_t id : answered) {
        const auto to = peers_.find(id);
        if (to == peers_.end()) continue;
        write(*to->second);
        recount(*to->second);
    }
    after_();
}

// Puts a reply behind those that wait to be written.
void Network::Impl::send(Peer& peer, ifl::Reply reply, bool close_after) {
    if (peer.closing) return;
    for (std::string& piece : packets_of(std::move(reply))) peer.unsent.add(std::move(piece));
    peer.close_after_write = peer.close_after_write || close_after;
    if (peer.close_after_write && std::exchange(peer.reading, false)) uv_read_stop(&peer.handle.stream);
}

// A part of a status reply, or all of it.
void Network::Impl::send_part(Peer& peer, ifl::StatusPart part, bool more) {
    for (std::string& piece : ifl::part_packet(std::move(part), more)) peer.unsent.add(std::move(piece));
}

// Writes what waits, all of it at once.
void Network::Impl::write(Peer& peer) {
    if (peer.closing || peer.writing || peer.unsent.empty()) return;
    struct Write {
        uv_write_t request;
        std::vector<std::string> pieces;
    };
    peer.being_written = peer.unsent.size();
    auto* write = new Write{{}, peer.unsent.take()};
    write->request.data = write;
    peer.writing = true;
    peer.write_began = Steady::now();
    std::vector<uv_buf_t> buffers;  // libuv keeps a copy of what it hasn't sent at once
    buffers.reserve(write->pieces.size());
    for (std::string& piece : write->pieces)
        buffers.push_back(uv_buf_init(piece.data(), static_cast<unsigned>(piece.size())));
    const auto sent = [](uv_write_t* done, int status) {
        auto& to = *static_cast<Peer*>(done->handle->data);
        delete static_cast<Write*>(done->data);
        to.writing = false;
        to.being_written = 0;
        if (to.closing) return;
        to.network.recount(to);
        const bool ends = to.close_after_write || to.network.closing_;
        if (status != 0 || (ends && to.unsent.empty())) {
            to.network.drop(to, "");
        } else if (ends) {
            to.network.write(to);
        } else {
            to.waiting = Steady::now();
            to.network.guard(to, [&] {
                to.network.write(to);
                to.network.recount(to);
                to.network.want_turn(to);
            });
        }
    };
    const int code = uv_write(&write->request, &peer.handle.stream, buffers.data(),
                              static_cast<unsigned>(buffers.size()), sent);
    if (code == 0) return;
    delete write;
    peer.writing = false;
    drop(peer, "");
}

// The client asks no more; the replies to what it asked before still go out.
void Network::Impl::finish(Peer& peer) {
    if (peer.held != 0) settle();
    if (peer.closing) return;
    peer.close_after_write = true;
    if (std::exchange(peer.reading, false)) uv_read_stop(&peer.handle.stream);
    write(peer);
    if (!peer.writing) drop(peer, "");
}

void Network::Impl::drop(Peer& peer, std::string_view why) {
    if (peer.closing) return;
    if (!why.empty())
        server_.parts.log.write(LogEvent::debug, LogClass::request, peer.key,
                                fmt::format("connection closed: {}", why));
    peer.closing = true;
    auth_.remove(peer.id);
    peers_.erase(peer.id);
    leave(peer);
    peer.asked.reset();
    if (const auto at = per_address_.find(peer.address);
        peer.other_host && at != per_address_.end() && --at->second == 0)
        per_address_.erase(at);
    uv_close(reinterpret_cast<uv_handle_t*>(&peer.handle.stream),
             [](uv_handle_t* handle) { static_cast<Peer*>(handle->data)->release(); });
    close_timer_if_done();
}

// What waits too long is closed.
void Network::Impl::sweep() {
    const auto now = Steady::now();
    std::vector<std::pair<Peer*, std::string_view>> late;
    std::vector<Peer*> known;  // and not counted as such yet
    for (const auto& [id, peer] : peers_) {
        if (peer->writing && now - peer->write_began > options_.request_timeout) {
            late.emplace_back(peer, "its reply was not read");
        } else if (peer->reading && peer->decoder.in_progress() &&
                   now - peer->waiting > options_.request_timeout) {
            late.emplace_back(peer, "its request stopped halfway");
        } else if (!auth_.known(id) && now - peer->since > options_.unknown_timeout) {
            late.emplace_back(peer, "it did not say who it is");
        } else if (!peer->writing && peer->asked == nullptr && !peer->unread &&
                   options_.idle_timeout.count() > 0 && now - peer->used > options_.idle_timeout) {
            late.emplace_back(peer, "it asked for nothing for long");
        } else if (!peer->full_limits && auth_.known(id)) {
            known.push_back(peer);
        }
    }
    for (const auto& [peer, why] : late) drop(*peer, why);
    for (Peer* peer : known) {
        now_known(*peer);
        want_turn(*peer);
    }
    return_memory();
}

// The allocator keeps what was freed, for good where something small lies behind it.
void Network::Impl::return_memory() {
    const auto now = Steady::now();
    const bool much = most_bytes_since_return_ > clients_.bytes() + memory_to_return;
    if (!much || now - returned_ < between_returns) return;
    malloc_trim(0);
    returned_ = now;
    most_bytes_since_return_ = clients_.bytes();
}

void Network::Impl::close() {
    guarded(server_.parts.log, "stopping", [this] { settle(); });
    closing_ = true;
    if (std::exchange(socket_open_, false)) {
        uv_close(reinterpret_cast<uv_handle_t*>(&socket_), nullptr);
        unlink(options_.socket.c_str());
    }
    if (std::exchange(tcp_open_, false)) uv_close(reinterpret_cast<uv_handle_t*>(&tcp_), nullptr);
    std::vector<Peer*> all;
    for (const auto& [id, peer] : peers_) all.push_back(peer);
    for (Peer* peer : all) {
        write(*peer);
        if (!peer->writing) drop(*peer, "");
    }
    // A last reply gets a moment to go out, and no more.
    if (timer_open_ && !peers_.empty()) {
        uv_timer_start(
            &timer_, [](uv_timer_t* timer) { static_cast<Impl*>(timer->data)->drop_all(); }, last_reply_ms,
            0);
        uv_ref(reinterpret_cast<uv_handle_t*>(&timer_));
    }
    close_timer_if_done();
}

void Network::Impl::drop_all() {
    std::vector<Peer*> all;
    for (const auto& [id, peer] : peers_) all.push_back(peer);
    for (Peer* peer : all) drop(*peer, "its last reply was not read");
}

void Network::Impl::close_timer_if_done() {
    if (!closing_ || !peers_.empty()) return;
    if (std::exchange(timer_open_, false)) uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr);
    if (std::exchange(turn_end_open_, false)) {
        uv_close(reinterpret_cast<uv_handle_t*>(&turn_end_), nullptr);
        uv_close(reinterpret_cast<uv_handle_t*>(&no_wait_), nullptr);
        uv_close(reinterpret_cast<uv_handle_t*>(&later_timer_), nullptr);
    }
}

Network::Network(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Network::~Network() = default;

Result<std::unique_ptr<Network>> Network::open(uv_loop_s* loop, Server& server, NetworkOptions options,
                                               std::function<void()> after_request) {
    auto impl = std::make_unique<Impl>(loop, server, std::move(options), std::move(after_request));
    auto done = impl->listen_socket();
    if (done) done = impl->listen_tcp();
    if (!done) {
        impl->close();
        uv_run(loop, UV_RUN_NOWAIT);
        return tl::unexpected(done.error());
    }
    impl->start_timer();
    impl->start_check();
    return std::unique_ptr<Network>(new Network(std::move(impl)));
}

uint16_t Network::port() const {
    return impl_->port();
}
std::size_t Network::memory() const {
    return impl_->memory();
}
void Network::close() {
    impl_->close();
}

}  // namespace pbs::host

// Network: accepts connections, finds their users, and bounds their numbers.

#include <fmt/format.h>
#include <netdb.h>
#include <sys/socket.h>
#include <uv.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "ifl/request.h"
#include "server_plugin/host/base/address.h"
#include "server_plugin/host/base/guard.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/base/users.h"
#include "server_plugin/host/net/network_impl.h"
#include "values/text.h"

namespace pbs::host {

namespace {

// Returns whether the address is one of this machine's. A client at such an address counts as being on the
// server's own host.
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

}  // namespace

// Accepts a connection. If this turn of the loop has accepted enough, leaves the connection to the next turn,
// so that a flood of connections can't stop the service; until then libuv keeps the connection and takes no
// other. After a failure the next sweep() tries again.
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
    last_exchange_ = peer.since;
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

// Counts the connection among those of its user or, if he isn't known yet, of its address. A manager's
// connections are counted by user@host, those of other users by the name alone. Returns false if the user or
// the address has too many.
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

// Closes a connection when all connections are in use, to make room for one of `newcomer`. The client with
// most connections loses one, if it has more than the newcomer. If the newcomer is a manager, this condition
// doesn't count, but only connections of other users than managers are closed.
bool Network::Impl::make_room(const Client& newcomer) {
    const Client* most = clients_.largest(newcomer.manager);
    if (most == nullptr || (!newcomer.manager && most->connections <= newcomer.connections)) return false;
    drop_idlest(*most, "its user has most of all connections, and there are no more");
    return true;
}

void Network::Impl::drop_idlest(const Client& client, std::string_view why) {
    Peer* idlest = nullptr;
    // Connections that wait for an answer are chosen last.
    const auto order = [](const Peer* peer) { return std::pair(peer->asked != nullptr, peer->used); };
    for (const auto& [id, peer] : peers_)
        if (peer->client == &client && (idlest == nullptr || order(peer) < order(idlest))) idlest = peer;
    if (idlest != nullptr) drop(*idlest, why);
}

// Call it when the user of a TCP connection has become known. The connection then counts among those of the
// user, and not among those of its address.
void Network::Impl::now_known(Peer& peer) {
    peer.full_limits = true;
    peer.decoder.set_limits(ifl::RequestLimits{});
    if (!peer.local && !enter(peer)) drop(peer, "too many connections");
}

// Finds the client's user and host, as far as the kernel knows them. Returns false if that failed.
bool Network::Impl::introduce(Peer& peer, bool local) {
    if (local) {
        uv_os_fd_t fd = -1;
        ucred credentials{};
        socklen_t size = sizeof credentials;
        if (uv_fileno(reinterpret_cast<uv_handle_t*>(&peer.handle.stream), &fd) != 0 ||
            getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0)
            return false;
        const auto user = find_user(credentials.uid);
        // Use the number for a uid without a name. Such a user can't own jobs, but may send queries.
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
    peer.session.address = peer.address;
    peer.session.from = fmt::format("{} port {}", peer.address, port);
    uv_tcp_nodelay(&peer.handle.tcp, 1);
    uv_tcp_keepalive(&peer.handle.tcp, 1, 60);
    const bool own = is_own_address(peer.address);
    peer.other_host = !own;
    if (peer.other_host) ++per_address_[peer.address];
    auth_.add_tcp(peer.id, peer.address, port, own ? first_unprivileged_port() : 1024);
    // If another server connects, its first request has a job with its attributes, which needs the full
    // limits of size. So a connection from a privileged port gets them at once.
    if (auth_.from_reserved_port(peer.id)) peer.decoder.set_limits(ifl::RequestLimits{});
    if (own) peer.host = server_.state.host_name;
    return true;
}

// Returns the first port that any user of this machine may bind (0 in many containers). A connection from
// this port or a higher one doesn't prove that root has made it. An administrator may change this number, so
// it is read again, at most once a second.
int Network::Impl::first_unprivileged_port() {
    const auto now = Steady::now();
    if (now - unprivileged_port_read_ < std::chrono::seconds(1)) return unprivileged_port_;
    unprivileged_port_read_ = now;
    unprivileged_port_ = 1024;
    std::ifstream("/proc/sys/net/ipv4/ip_unprivileged_port_start") >> unprivileged_port_;
    return unprivileged_port_;
}

// Looks up the host name of a client on another machine, in a thread, because that may take long. The host is
// the address's name in the DNS, if the DNS also has this address for that name. Otherwise, or if it is this
// machine's name, the host is the address.
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
                found.network.host_known(found, same ? values::lowered(ended->name) : found.address);
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

}  // namespace pbs::host

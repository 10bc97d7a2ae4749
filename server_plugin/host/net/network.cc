#include "server_plugin/host/net/network.h"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ifl/pbs_error.h"
#include "ifl/reply.h"
#include "server_plugin/host/base/address.h"
#include "server_plugin/host/base/guard.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/net/network_impl.h"

namespace pbs::host {
namespace {

constexpr uint64_t kLastReplyMs = 2000;
// The size that an incomplete request may have in any case, however much memory its user already uses.
constexpr std::size_t kSmallInput = size_t{128} << 10;
// The amount of freed memory from which on it is returned to the system.
constexpr std::size_t kMemoryToReturn = size_t{16} << 20;
constexpr std::chrono::seconds kBetweenReturns{10};

// Makes the packets of a reply: several for a status reply, because clients expect long ones in parts.
std::vector<std::string> packets_of(ifl::Reply reply) {
    auto* status = std::get_if<ifl::StatusReply>(&reply.body);
    if (status != nullptr && reply.code == 0) return ifl::status_packets(std::move(*status));
    return {ifl::reply_packet(reply)};
}

}  // namespace

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

// Makes the loop call serve() each time it has read all data that has come.
void Network::Impl::start_check() {
    uv_idle_init(loop_, &no_wait_);
    uv_timer_init(loop_, &later_timer_);
    later_timer_.data = this;
    uv_timer_init(loop_, &waiting_timer_);
    waiting_timer_.data = this;
    uv_prepare_init(loop_, &before_wait_);
    before_wait_.data = this;
    uv_check_init(loop_, &turn_end_);
    turn_end_open_ = true;
    turn_end_.data = this;
    uv_check_start(&turn_end_, [](uv_check_t* check) {
        auto& network = *static_cast<Impl*>(check->data);
        guarded(network.server_.parts.log, "requests", [&network] { network.serve(); });
    });
    uv_unref(reinterpret_cast<uv_handle_t*>(&turn_end_));
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
                from.network.guard(from, [&] {
                    from.network.take_bytes(from, {buffer->base, static_cast<size_t>(size)});
                });
            }
        });
}

// If the connection's incomplete request is longer than its user's share of the memory permits, drops the
// connection and returns true.
bool Network::Impl::grows_too_long(Peer& peer) {
    if (peer.decoder.size() <= kSmallInput || may_grow(peer)) return false;
    drop(peer, "too many requests of its user that aren't whole");
    return true;
}

// Appends a reply to those that write() will send. `close_after`: the connection is closed when the reply is
// sent.
void Network::Impl::send(Peer& peer, ifl::Reply reply, bool close_after) {
    if (peer.closing) return;
    for (std::string& piece : packets_of(std::move(reply))) peer.unsent.add(std::move(piece));
    peer.close_after_write = peer.close_after_write || close_after;
    if (peer.close_after_write && std::exchange(peer.reading, false)) uv_read_stop(&peer.handle.stream);
}

// Appends a part of a long status reply to the bytes that write() will send.
void Network::Impl::send_part(Peer& peer, ifl::StatusPart part, bool more) {
    for (std::string& piece : ifl::part_packet(std::move(part), more)) peer.unsent.add(std::move(piece));
}

// Sends all pending replies of the connection in one call.
void Network::Impl::write(Peer& peer) {
    if (peer.closing || peer.writing) return;
    std::vector<std::string> pieces = peer.unsent.take();
    if (peer.tls != nullptr && !encrypt(peer, pieces)) return;
    if (pieces.empty()) return;
    lines_.reset();
    struct Write {
        uv_write_t request;
        std::vector<std::string> pieces;
    };
    auto write = std::make_unique<Write>(Write{{}, std::move(pieces)});
    std::vector<uv_buf_t> buffers;  // libuv copies these descriptions if it can't send all bytes at once
    buffers.reserve(write->pieces.size());
    for (std::string& piece : write->pieces)
        buffers.push_back(uv_buf_init(piece.data(), static_cast<unsigned>(piece.size())));
    peer.being_written = 0;
    for (const std::string& piece : write->pieces) peer.being_written += piece.capacity();
    write->request.data = write.get();
    peer.writing = true;
    peer.write_began = last_exchange_ = Steady::now();
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
            to.network.guard(to, [&] { to.network.write(to); });
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
    if (code == 0) {
        (void)write.release();  // sent() deletes it
        return;
    }
    peer.writing = false;
    drop(peer, "");
}

// Closes the connection of a client that sends no more requests, after the replies to its earlier ones are
// sent.
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
    if (peer.checked) munge_->forget(peer.id);
    peers_.erase(peer.id);
    leave(peer);
    peer.asked.reset();
    peer.session.registered.clear();
    if (const auto at = per_address_.find(peer.address);
        peer.other_host && at != per_address_.end() && --at->second == 0)
        per_address_.erase(at);
    uv_close(reinterpret_cast<uv_handle_t*>(&peer.handle.stream),
             [](uv_handle_t* handle) { static_cast<Peer*>(handle->data)->release(); });
    close_timer_if_done();
}

// Closes connections that have waited for too long.
void Network::Impl::sweep() {
    const auto now = Steady::now();
    std::vector<std::pair<Peer*, std::string_view>> late;
    std::vector<Peer*> known;  // connections to count under their user's name, after the loop
    for (const auto& [id, peer] : peers_) {
        if (peer->checked && now - peer->waiting > options_.check_timeout) {
            late.emplace_back(peer, "its credential was not looked at in time");
        } else if (peer->writing && now - peer->write_began > options_.request_timeout) {
            late.emplace_back(peer, "its reply was not read");
        } else if (peer->tls != nullptr && !peer->tls->established()) {
            if (now - peer->since > options_.handshake_timeout)
                late.emplace_back(peer, "its handshake of TLS did not end in time");
        } else if (peer->reading && in_progress(*peer) && now - peer->waiting > options_.request_timeout) {
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
    for (const auto& [peer, why] : late) {
        if (peer->checked) {
            refuse_credential(*peer, why);
        } else {
            drop(*peer, why);
        }
    }
    for (Peer* peer : known)
        guard(*peer, [&] {
            now_known(*peer);
            want_turn(*peer);
        });
    return_memory();
}

// Returns freed memory to the system, if there is much. Otherwise malloc would retain it, and for good if a
// small block behind it is in use.
void Network::Impl::return_memory() {
    const auto now = Steady::now();
    const bool much = most_bytes_since_return_ > clients_.bytes() + kMemoryToReturn;
    if (!much || now - returned_ < kBetweenReturns) return;
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
    // Give the last replies 2 seconds to be sent, and then drop all connections.
    if (timer_open_ && !peers_.empty()) {
        uv_timer_start(
            &timer_, [](uv_timer_t* timer) { static_cast<Impl*>(timer->data)->drop_all(); }, kLastReplyMs, 0);
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
    if (munge_ != nullptr) munge_->close();
    if (certificate_ != nullptr) certificate_->close();
    if (std::exchange(timer_open_, false)) uv_close(reinterpret_cast<uv_handle_t*>(&timer_), nullptr);
    if (std::exchange(turn_end_open_, false)) {
        uv_close(reinterpret_cast<uv_handle_t*>(&turn_end_), nullptr);
        uv_close(reinterpret_cast<uv_handle_t*>(&no_wait_), nullptr);
        uv_close(reinterpret_cast<uv_handle_t*>(&later_timer_), nullptr);
        uv_close(reinterpret_cast<uv_handle_t*>(&waiting_timer_), nullptr);
        uv_close(reinterpret_cast<uv_handle_t*>(&before_wait_), nullptr);
    }
}

Network::Network(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Network::~Network() = default;

Result<std::unique_ptr<Network>> Network::open(uv_loop_s* loop, Server& server, NetworkOptions options,
                                               std::function<void()> after_request) {
    auto impl = std::make_unique<Impl>(loop, server, std::move(options), std::move(after_request));
    auto done = impl->listen_socket();
    if (done) done = impl->listen_tcp();
    if (done) done = impl->start_munge();
    if (done) done = impl->start_tls();
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

std::chrono::steady_clock::time_point Network::last_exchange() const {
    return impl_->last_exchange();
}

std::size_t Network::memory() const {
    return impl_->memory();
}
void Network::close() {
    impl_->close();
}

}  // namespace pbs::host

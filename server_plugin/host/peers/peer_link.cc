#include "server_plugin/host/peers/peer_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "ifl/error_text.h"
#include "ifl/pbs_error.h"
#include "server_plugin/host/base/guard.h"
#include "server_plugin/host/state/values.h"
#include "values/text.h"

namespace pbs::host {
namespace {

// Limits on another server's replies, which this server has to hold in memory.
ifl::ReplyLimits limits() {
    ifl::ReplyLimits limits;
    limits.packet = std::size_t{64} << 20;
    limits.value = std::size_t{4} << 20;
    limits.attributes = 10'000;
    limits.objects = 100'000;
    return limits;
}

}  // namespace

std::string text_of(const ifl::Reply& reply) {
    const auto* text = std::get_if<ifl::TextReply>(&reply.body);
    if (text != nullptr && !text->text.empty()) return text->text;
    return std::string(values::trim(ifl::error_text(reply.code)));
}

std::chrono::seconds pause_after_failure(int failures, std::chrono::seconds first,
                                         std::chrono::seconds longest) {
    constexpr int kMostDoublings = 6;
    return std::min<std::chrono::seconds>(first * (1 << std::min(failures, kMostDoublings)), longest);
}

std::shared_ptr<PeerLink> PeerLink::open(uv_loop_t* loop, Server& server, const ServerName& to,
                                         std::chrono::seconds patience) {
    std::shared_ptr<PeerLink> link(new PeerLink(loop, server, to, patience));
    auto connector = Connector::start(server.options.program, to);
    if (!connector) {
        link->close(connector.error().message);
        return link;
    }
    link->connector_ = std::move(*connector);
    link->watch(link->connector_->fd(), UV_READABLE);
    return link;
}

PeerLink::PeerLink(uv_loop_t* loop, Server& server, ServerName to, std::chrono::seconds patience)
    : loop_(loop), server_(server), to_(std::move(to)), patience_(patience) {}

PeerLink::~PeerLink() {
    unwatch();
    end_connector();
}

void PeerLink::watch(int fd, int events) {
    if (poll_ == nullptr) {
        poll_ = new uv_poll_t{};
        uv_poll_init(loop_, poll_, fd);
        poll_->data = this;
    }
    uv_poll_start(poll_, events, [](uv_poll_t* handle, int, int) {
        const auto link = static_cast<PeerLink*>(handle->data)->shared_from_this();
        if (!guarded(link->server_.parts.log, link->to_.text(), [&] { link->work(); }))
            link->close("an internal error");
    });
}

void PeerLink::unwatch() {
    if (poll_ == nullptr) return;
    uv_poll_stop(poll_);
    uv_close(reinterpret_cast<uv_handle_t*>(std::exchange(poll_, nullptr)),
             [](uv_handle_t* handle) { delete reinterpret_cast<uv_poll_t*>(handle); });
}

void PeerLink::end_connector() {
    if (!connector_) return;
    ::kill(connector_->pid(), SIGKILL);
    server_.killed_children.push_back(connector_->pid());
    connector_.reset();
}

void PeerLink::close(const std::string& why) {
    if (closed_) return;
    closed_ = true;
    why_ = why;
    unwatch();
    end_connector();
    const ifl::Result<ifl::Reply> none = tl::unexpected(ifl::Error{PBSE_NOSERVER, why});
    if (connected()) exchange_->close(why);
    for (const Waiting& one : std::exchange(waiting_, {})) one.done(none);
}

void PeerLink::ask(ifl::RequestType type, ifl::RequestBody body, Done done, ifl::ObjectSink sink) {
    if (closed_) return done(tl::unexpected(ifl::Error{PBSE_NOSERVER, why_}));
    if (idle()) heard_ = Steady::now();
    if (!connected()) {
        waiting_.push_back({type, std::move(body), std::move(done), std::move(sink)});
        return;
    }
    exchange_->ask(type, std::move(body), {}, std::move(done), std::move(sink));
    if (poll_ != nullptr) watch(exchange_->fd(), UV_READABLE | UV_WRITABLE);
}

void PeerLink::take_connection() {
    auto made = connector_->take();
    unwatch();
    if (!made || !made->relayed) end_connector();
    if (!made) return close(made.error().message);
    address_ = std::move(made->address);
    exchange_ = std::make_unique<ifl::Exchange>(std::move(made->socket), std::move(made->user), limits());
    heard_ = Steady::now();
    watch(exchange_->fd(), UV_READABLE | UV_WRITABLE);
    for (Waiting& one : std::exchange(waiting_, {}))
        exchange_->ask(one.type, std::move(one.body), {}, std::move(one.done), std::move(one.sink));
}

void PeerLink::work() {
    if (closed_) return;
    if (!connected()) return take_connection();
    if (exchange_->work()) heard_ = Steady::now();
    if (closed_) return;
    if (!exchange_->open()) return close("the server closed the connection");
    watch(exchange_->fd(), exchange_->wants_to_send() ? UV_READABLE | UV_WRITABLE : UV_READABLE);
}

void PeerLink::look(Steady::time_point now) {
    if (closed_ || idle() || now - heard_ < patience_) return;
    close(fmt::format("no answer within {} s", patience_.count()));
}

}  // namespace pbs::host

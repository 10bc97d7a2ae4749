#include "server_plugin/openpbs/server_client.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "ifl/dis.h"
#include "ifl/error_text.h"
#include "ifl/pbs_error.h"
#include "server_plugin/openpbs/scheduling_terms.h"
#include "values/text.h"

namespace pbs::openpbs {
namespace {

constexpr std::size_t kLongestId = 1024;

// The user for whom the server takes a client on a connection from a reserved port.
constexpr const char* kUser = "root";

}  // namespace

ifl::Result<void> ServerClient::open(const ServerPlace& server) {
    close({});
    refused_ = 0;
    // Connect first to find out from which address of this host the server is reached.
    const auto probe = ifl::connect_to(server.address);
    if (!probe) return tl::unexpected(probe.error());
    std::array<ifl::Socket, 2> sockets;
    for (ifl::Socket& one : sockets) {
        auto socket = ifl::connect_from_reserved_port(*probe);
        if (!socket) return tl::unexpected(socket.error());
        one = std::move(*socket);
        const int flags = fcntl(one.fd(), F_GETFL);
        if (flags < 0 || fcntl(one.fd(), F_SETFL, flags | O_NONBLOCK) != 0)
            return tl::unexpected(ifl::Error{PBSE_SYSTEM, values::system_text(errno)});
    }
    first_.emplace(std::move(sockets[0]), kUser);
    second_ = std::move(sockets[1]);
    packets_ = ifl::PacketReader(kLongestCommand);
    state_ = State::first;
    why_closed_.clear();
    first_->ask(ifl::RequestType::register_scheduler, ifl::RegisterScheduler{sched_}, {},
                [this](const ifl::Result<ifl::Reply>& reply) { take_registration(reply); });
    return {};
}

void ServerClient::take_registration(const ifl::Result<ifl::Reply>& reply) {
    if (!reply) return lose(reply.error().message);
    if (reply->code != 0) {
        refused_ = reply->code;
        return lose(text_of(*reply));
    }
    if (state_ == State::first) {
        state_ = State::second;
        out_ += ifl::request_packet(
            {ifl::RequestType::register_scheduler, kUser, ifl::RegisterScheduler{sched_}, {}});
    } else {
        state_ = State::registered;
    }
}

void ServerClient::close(const std::string& why) {
    const bool was_open = std::exchange(state_, State::closed) != State::closed;
    why_closed_ = why;
    commands_.clear();
    out_.clear();
    // Call shutdown(), too, because a child of this process may still have a copy of the descriptor.
    if (second_.fd() >= 0) ::shutdown(second_.fd(), SHUT_RDWR);
    second_ = {};
    if (was_open) first_->close(why);
}

void ServerClient::lose(const std::string& why) {
    if (state_ == State::closed) return;
    close(why.empty() ? "the server closed the connection" : why);
}

void ServerClient::ask(ifl::RequestType type, ifl::RequestBody body, std::string extend,
                       ifl::Exchange::Done done, ifl::ObjectSink sink) {
    if (state_ == State::closed) {
        done(tl::unexpected(ifl::Error{PBSE_PROTOCOL, "there is no connection"}));
        return;
    }
    first_->ask(type, std::move(body), std::move(extend), std::move(done), std::move(sink));
}

void ServerClient::tell(ifl::RequestType type, ifl::RequestBody body) {
    if (state_ != State::closed) first_->tell(type, std::move(body));
}

std::optional<Command> ServerClient::next_command() {
    if (commands_.empty()) return std::nullopt;
    Command command = std::move(commands_.front());
    commands_.pop_front();
    return command;
}

void ServerClient::end_cycle() {
    std::string data;
    ifl::DisWriter(data).put_signed(0);
    out_ += ifl::make_packet(data);
    flush();
}

void ServerClient::poll_for(std::vector<pollfd>& set) const {
    if (state_ == State::closed) return;
    const auto add = [&](int fd, bool sends) {
        set.push_back({fd, static_cast<short>(sends ? POLLIN | POLLOUT : POLLIN), 0});
    };
    add(first_->fd(), first_->wants_to_send());
    add(second_.fd(), !out_.empty());
}

void ServerClient::flush() {
    std::size_t done = 0;
    while (state_ != State::closed && done < out_.size()) {
        const auto sent = second_.send_some(std::string_view(out_).substr(done));
        if (!sent) return lose(sent.error().message);
        if (*sent == 0) break;
        done += *sent;
    }
    if (state_ != State::closed) out_.erase(0, done);
}

// Reads from the second connection. Returns false if there is nothing to read at the moment.
bool ServerClient::read() {
    if (state_ == State::closed) return false;
    const ssize_t size = ::recv(second_.fd(), packets_.room(ifl::kReadSize), ifl::kReadSize, MSG_DONTWAIT);
    const int error = errno;
    packets_.filled(size > 0 ? static_cast<std::size_t>(size) : 0);
    if (size > 0 || (size < 0 && error == EINTR)) return true;
    if (size == 0 || (error != EAGAIN && error != EWOULDBLOCK))
        lose(size == 0 ? "" : values::system_text(error));
    return false;
}

void ServerClient::read_commands() {
    for (bool more = true; more;) {
        more = read();
        while (state_ != State::closed) {
            const auto packet = packets_.next();
            if (!packet) return lose(packet.error().message);
            if (!*packet) break;
            // The first packet is the reply to the registration.
            if (state_ == State::second) {
                take_registration(ifl::decode_reply(**packet));
                continue;
            }
            ifl::DisReader in(**packet);
            Command command;
            command.number = in.get_i32("command");
            if (command.number == kRunOne) command.job = in.get_string("job", kLongestId);
            if (in.failed()) return lose("the server sent a command that can't be read");
            commands_.push_back(std::move(command));
        }
    }
}

void ServerClient::work() {
    if (state_ == State::closed) return;
    first_->work();
    if (!first_->open()) return lose(first_->why_closed());
    flush();
    read_commands();
}

}  // namespace pbs::openpbs

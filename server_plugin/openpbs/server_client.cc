#include "server_plugin/openpbs/server_client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "ifl/dis.h"
#include "ifl/error_text.h"
#include "ifl/pbs_error.h"

namespace pbs::openpbs {
namespace {

constexpr std::size_t kLongestId = 1024;

// Whom the server believes on a connection from a reserved port.
constexpr const char* kUser = "root";

std::string text_of(const ifl::Reply& reply) {
    const auto* text = std::get_if<ifl::TextReply>(&reply.body);
    if (text != nullptr && !text->text.empty()) return text->text;
    return std::string(ifl::error_text(reply.code));
}

std::string system_text(int error) {
    return std::generic_category().message(error);
}

}  // namespace

ifl::Result<void> ServerClient::open(const ServerPlace& server) {
    close({});
    refused_ = 0;
    // What says which address of this host the server is reached from.
    const auto probe = ifl::connect_to(server.address);
    if (!probe) return tl::unexpected(probe.error());
    for (End* end : {&first_, &second_}) {
        auto socket = ifl::connect_from_reserved_port(*probe);
        if (!socket) {
            close({});
            return tl::unexpected(socket.error());
        }
        end->socket = std::move(*socket);
        const int flags = fcntl(end->socket.fd(), F_GETFL);
        if (flags < 0 || fcntl(end->socket.fd(), F_SETFL, flags | O_NONBLOCK) != 0) {
            const int error = errno;
            close({});
            return tl::unexpected(ifl::Error{PBSE_SYSTEM, system_text(error)});
        }
    }
    replies_ = ifl::ReplyDecoder();
    packets_ = ifl::PacketReader(kLongestCommand);
    state_ = State::first;
    why_closed_.clear();
    send_register(first_);
    return {};
}

void ServerClient::send_register(End& end) {
    end.out += ifl::request_packet(
        {ifl::RequestType::register_scheduler, kUser, ifl::RegisterScheduler{sched_}, {}});
    if (&end == &first_)
        asked_.push_back({[this](const ifl::Result<ifl::Reply>& reply) { take_registration(reply); }, {}});
    flush(end);
}

void ServerClient::take_registration(const ifl::Result<ifl::Reply>& reply) {
    if (!reply) return lose(reply.error().message);
    if (reply->code != 0) {
        refused_ = reply->code;
        return lose(text_of(*reply));
    }
    if (state_ == State::first) {
        state_ = State::second;
        send_register(second_);
    } else {
        state_ = State::registered;
    }
}

void ServerClient::close(const std::string& why) {
    // A child of the server's that is still there has copies of the descriptors.
    for (const End* end : {&first_, &second_})
        if (end->socket.fd() >= 0) ::shutdown(end->socket.fd(), SHUT_RDWR);
    first_ = {};
    second_ = {};
    state_ = State::closed;
    why_closed_ = why;
    commands_.clear();
    const std::deque<Asked> asked = std::exchange(asked_, {});
    const ifl::Result<ifl::Reply> none = tl::unexpected(ifl::Error{PBSE_PROTOCOL, why});
    for (const Asked& one : asked) one.done(none);
}

void ServerClient::lose(const std::string& why) {
    if (state_ == State::closed) return;
    close(why.empty() ? "the server closed the connection" : why);
}

void ServerClient::ask(ifl::RequestType type, ifl::RequestBody body, std::string extend, Done done,
                       ifl::ObjectSink sink) {
    if (state_ == State::closed) {
        done(tl::unexpected(ifl::Error{PBSE_PROTOCOL, "there is no connection"}));
        return;
    }
    first_.out += ifl::request_packet({type, kUser, std::move(body), std::move(extend)});
    asked_.push_back({std::move(done), std::move(sink)});
}

void ServerClient::tell(ifl::RequestType type, ifl::RequestBody body) {
    if (state_ != State::closed) first_.out += ifl::request_packet({type, kUser, std::move(body), {}});
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
    second_.out += ifl::make_packet(data);
    flush(second_);
}

void ServerClient::poll_for(std::vector<pollfd>& set) const {
    if (state_ == State::closed) return;
    for (const End* end : {&first_, &second_}) {
        const auto events = static_cast<short>(end->out.empty() ? POLLIN : POLLIN | POLLOUT);
        set.push_back({end->socket.fd(), events, 0});
    }
}

void ServerClient::flush(End& end) {
    std::size_t done = 0;
    while (state_ != State::closed && done < end.out.size()) {
        const ssize_t sent = ::send(end.socket.fd(), end.out.data() + done, end.out.size() - done,
                                    MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
        if (sent < 0) return lose(system_text(errno));
        done += static_cast<std::size_t>(sent);
    }
    end.out.erase(0, done);
}

// False: there is no more now.
bool ServerClient::read(End& end, const std::function<char*(std::size_t)>& room,
                        const std::function<void(std::size_t)>& filled) {
    if (state_ == State::closed) return false;
    const ssize_t size = ::recv(end.socket.fd(), room(ifl::kReadSize), ifl::kReadSize, MSG_DONTWAIT);
    const int error = errno;
    filled(size > 0 ? static_cast<std::size_t>(size) : 0);
    if (size > 0) return true;
    if (size < 0 && error == EINTR) return true;
    if (size == 0 || (error != EAGAIN && error != EWOULDBLOCK)) lose(size == 0 ? "" : system_text(error));
    return false;
}

void ServerClient::read_replies() {
    for (bool more = true; more;) {
        more = read(
            first_, [this](std::size_t size) { return replies_.room(size); },
            [this](std::size_t size) { replies_.filled(size); });
        while (state_ != State::closed) {
            auto decoded = replies_.next(asked_.empty() ? ifl::ObjectSink() : asked_.front().sink);
            if (std::holds_alternative<ifl::ReplyDecoder::NeedMore>(decoded)) break;
            if (const auto* bad = std::get_if<ifl::ReplyDecoder::Malformed>(&decoded))
                return lose(bad->error.message);
            if (asked_.empty()) return lose("the server answered what nobody asked");
            const Asked one = std::move(asked_.front());
            asked_.pop_front();
            one.done(std::get<ifl::Reply>(std::move(decoded)));
        }
    }
}

void ServerClient::read_commands() {
    for (bool more = true; more;) {
        more = read(
            second_, [this](std::size_t size) { return packets_.room(size); },
            [this](std::size_t size) { packets_.filled(size); });
        while (state_ != State::closed) {
            const auto packet = packets_.next();
            if (!packet) return lose(packet.error().message);
            if (!*packet) break;
            // The first is the answer to its registration.
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
    flush(first_);
    flush(second_);
    read_replies();
    read_commands();
    flush(first_);
    flush(second_);
}

}  // namespace pbs::openpbs

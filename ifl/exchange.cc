#include "ifl/exchange.h"

#include <sys/socket.h>

#include <cerrno>
#include <system_error>
#include <utility>
#include <variant>

#include "ifl/packet.h"
#include "ifl/pbs_error.h"
#include "values/text.h"

namespace pbs::ifl {
namespace {

// The most reads in one call of work(): a server that sends without end must leave time for other
// connections.
constexpr int kMostReads = 16;

}  // namespace

Exchange::Exchange(Socket socket, std::string user, const ReplyLimits& limits)
    : socket_(std::move(socket)), user_(std::move(user)), replies_(limits) {}

void Exchange::ask(RequestType type, RequestBody body, std::string extend, Done done, ObjectSink sink) {
    if (!open()) {
        done(tl::unexpected(Error{PBSE_PROTOCOL, "there is no connection"}));
        return;
    }
    out_ += request_packet({type, user_, std::move(body), std::move(extend)});
    asked_.push_back({std::move(done), std::move(sink)});
}

void Exchange::tell(RequestType type, RequestBody body) {
    if (open()) out_ += request_packet({type, user_, std::move(body), {}});
}

void Exchange::close(const std::string& why) {
    if (open()) {
        why_closed_ = why;
        // end the connection by shutdown(): a child process may still have a copy of the descriptor
        ::shutdown(socket_.fd(), SHUT_RDWR);
    }
    socket_ = Socket();
    out_.clear();
    const std::deque<Unanswered> asked = std::exchange(asked_, {});
    const Result<Reply> none = tl::unexpected(Error{PBSE_PROTOCOL, why});
    for (const Unanswered& one : asked) one.done(none);
}

void Exchange::send() {
    std::size_t done = 0;
    while (open() && done < out_.size()) {
        const auto sent = socket_.send_some(std::string_view(out_).substr(done));
        if (!sent) return close(sent.error().message);
        if (*sent == 0) break;
        done += *sent;
    }
    out_.erase(0, done);
}

// Reads bytes that have arrived. False: there are none, or the connection has ended.
bool Exchange::receive() {
    const ssize_t size = ::recv(socket_.fd(), replies_.room(kReadSize), kReadSize, MSG_DONTWAIT);
    const int error = errno;
    replies_.filled(size > 0 ? static_cast<std::size_t>(size) : 0);
    if (size > 0) return true;
    if (size == 0) {
        close("the server closed the connection");
    } else if (error != EAGAIN && error != EWOULDBLOCK && error != EINTR) {
        close(values::system_text(error));
    }
    return false;
}

void Exchange::take_replies() {
    while (open()) {
        static const ObjectSink kNone;
        auto decoded = replies_.next(asked_.empty() ? kNone : asked_.front().sink);
        if (std::holds_alternative<ReplyDecoder::NeedMore>(decoded)) return;
        if (const auto* bad = std::get_if<ReplyDecoder::Malformed>(&decoded))
            return close(bad->error.message);
        if (asked_.empty()) return close("the server answered what nobody asked");
        const Unanswered one = std::move(asked_.front());
        asked_.pop_front();
        one.done(std::get<Reply>(std::move(decoded)));
    }
}

bool Exchange::work() {
    bool came = false;
    send();
    for (int reads = 0; reads < kMostReads && open() && receive(); ++reads) {
        came = true;
        take_replies();
    }
    send();
    return came;
}

}  // namespace pbs::ifl

#include "ifl/cmds/input_lines.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace pbs::cmds {

namespace {

constexpr std::size_t kReadSize = 65536;

bool is_readable(int descriptor) {
    pollfd poller{descriptor, POLLIN, 0};
    return poll(&poller, 1, 0) == 1;
}

}  // namespace

// Reads more input. False: the end, or an error.
bool InputLines::fill() {
    if (ended_) return false;
    if (!is_readable(descriptor_)) before_waiting_();
    read_.erase(0, at_);
    at_ = 0;
    const std::size_t size = read_.size();
    read_.resize(size + kReadSize);
    ssize_t count = 0;
    do {
        count = read(descriptor_, read_.data() + size, kReadSize);
    } while (count < 0 && errno == EINTR);
    read_.resize(size + (count > 0 ? static_cast<std::size_t>(count) : 0));
    ended_ = count <= 0;
    return !ended_;
}

std::optional<std::string> InputLines::next() {
    std::size_t from = at_;
    for (;;) {
        const std::size_t end = read_.find('\n', from);
        if (end != std::string::npos) {
            std::string line = read_.substr(at_, end - at_);
            at_ = end + 1;
            return line;
        }
        from = read_.size() - at_;  // where the new input begins
        if (!fill()) break;
    }
    if (at_ == read_.size()) return std::nullopt;
    std::string line = read_.substr(at_);
    at_ = read_.size();
    return line;
}

}  // namespace pbs::cmds

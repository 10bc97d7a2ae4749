#include "server_plugin/host/run/launch_message.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "server_plugin/host/base/key_value.h"
#include "server_plugin/host/run/run_files.h"

namespace pbs::host::launch_message {

namespace {

std::string_view take_word(std::string_view& text) {
    const auto blank = text.find(' ');
    const auto word = text.substr(0, blank);
    text.remove_prefix(blank == text.npos ? text.size() : blank + 1);
    return word;
}

}  // namespace

std::string write(const RunId& id, const std::string& note) {
    return fmt::format("{} {}{}{}", id.job, id.run, note.empty() ? "" : " ", note);
}

std::optional<Message> parse(std::string_view text) {
    const auto job = take_word(text);
    const auto run = parse_number("run", take_word(text));
    if (!is_file_safe(job) || !run) return std::nullopt;
    return Message{{std::string(job), *run}, std::string(text), {}};
}

bool send(int socket, const std::string& text, const std::vector<int>& descriptors) {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostDescriptors * sizeof(int))> control{};
    iovec data{const_cast<char*>(text.data()), text.size()};  // NOLINT(cppcoreguidelines-pro-type-const-cast)
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    if (!descriptors.empty()) {
        message.msg_control = control.data();
        message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
        cmsghdr* header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
        std::memcpy(CMSG_DATA(header), descriptors.data(), descriptors.size() * sizeof(int));
    }
    ssize_t sent = 0;
    do {
        sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent == static_cast<ssize_t>(text.size());
}

bool receive(int socket, int flags, Received& message) {
    alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostDescriptors * sizeof(int))> control{};
    iovec data{message.text.data(), message.text.size()};
    msghdr header{};
    header.msg_iov = &data;
    header.msg_iovlen = 1;
    header.msg_control = control.data();
    header.msg_controllen = control.size();
    const ssize_t size = ::recvmsg(socket, &header, flags | MSG_CMSG_CLOEXEC);
    if (size == 0) errno = ECONNRESET;
    if (size <= 0) return false;
    message.size = static_cast<std::size_t>(size);
    for (Fd& descriptor : message.descriptors) descriptor.reset();
    for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count && i < kMostDescriptors; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
            message.descriptors[i] = Fd(fd);
        }
    }
    return true;
}

std::optional<Message> receive(int socket, int flags) {
    Received message;
    if (!receive(socket, flags, message)) return std::nullopt;
    auto parsed = parse(message.view());
    if (!parsed) errno = EBADMSG;
    if (parsed)
        for (Fd& descriptor : message.descriptors)
            if (descriptor) parsed->descriptors.push_back(std::move(descriptor));
    return parsed;
}

}  // namespace pbs::host::launch_message

// The messages between a server and its launcher (launcher.h), over a socket that preserves their boundaries.
// The server requests the start of a job by "JOB_ID RUN_COUNT". The launcher answers with the same text and
// two descriptors: one of the warden, one of the pipe that the shepherd writes to. If no warden could be
// started, the answer is the text, a blank and the reason. The server requests the removal of a start's files
// by "JOB_ID RUN_COUNT forget", which has no answer.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/run/runner.h"

namespace pbs::host::launch_message {

struct Message {
    RunId id;
    std::string note{};  // the text after the job's id and run count
    std::vector<Fd> descriptors{};
};

inline constexpr const char* kForget = "forget";

std::string write(const RunId& id, const std::string& note);
// Reads the text of a message. Returns nullopt if the text is malformed.
std::optional<Message> parse(std::string_view text);

// Sends a message with descriptors, which stay open here. Returns false, with errno set, if that failed.
bool send(int socket, const std::string& text, const std::vector<int>& descriptors);
inline constexpr std::size_t kMostDescriptors = 2;

// A message as it came. It takes no memory of its own, so that a lack of memory can't lose it.
struct Received {
    std::array<char, 4096> text{};
    std::size_t size = 0;  // 0: there is no message
    std::array<Fd, kMostDescriptors> descriptors;
    std::string_view view() const { return {text.data(), size}; }
};

// Receives the next message. `flags` are those of recvmsg(2). Returns false, with errno set, if there is no
// message, or the other process is gone (ECONNRESET).
bool receive(int socket, int flags, Received& message);
// Receives the next message and reads it. Returns nullopt, with errno set, also if the message is malformed
// (EBADMSG).
std::optional<Message> receive(int socket, int flags);

}  // namespace pbs::host::launch_message

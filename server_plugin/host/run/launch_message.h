// The messages between a server and its launcher (launcher.h), over a socket that preserves their boundaries.
// A request to start is "JOB_ID RUN_COUNT". The answer is the same text, with the descriptors of the warden
// and of the pipe that the shepherd writes to; or the text, a blank and the reason why there is no warden.
// "JOB_ID RUN_COUNT forget" requests the removal of the start's files, and has no answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/run/runner.h"

namespace pbs::host::launch_message {

struct Message {
    RunId id;
    std::string note{};  // the text after job and run count
    std::vector<Fd> descriptors{};
};

inline constexpr const char* kForget = "forget";

std::string write(const RunId& id, const std::string& note);
// Reads the text of a message; nullopt: it is malformed.
std::optional<Message> parse(std::string_view text);

// Sends a message with descriptors, which remain the caller's. False, with errno set: that failed.
bool send(int socket, const std::string& text, const std::vector<int>& descriptors);
// Receives the next message. nullopt, with errno set: there is none, the other end is gone (ECONNRESET), or
// the message is malformed (EBADMSG). `flags` as for recvmsg(2).
std::optional<Message> receive(int socket, int flags);

}  // namespace pbs::host::launch_message

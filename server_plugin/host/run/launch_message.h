// The messages of a server and its launcher (launcher.h), over a socket that keeps messages apart. A request
// to start is "JOB_ID RUN_COUNT". The answer is the same text, with the descriptors of the warden and of the
// pipe that the shepherd writes to, or followed by a blank and the reason why there is no warden. "JOB_ID
// RUN_COUNT forget" asks to remove all files of the start, and has no answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/run/runner.h"

namespace pbs::host::launch_message {

struct Message {
    RunId id;
    std::string note{};  // the text behind job and run count
    std::vector<Fd> descriptors{};
};

inline constexpr const char* kForget = "forget";

std::string write(const RunId& id, const std::string& note);
// Reads the text of a message; nullopt: it is none.
std::optional<Message> parse(std::string_view text);

// Sends a message with descriptors, which stay the caller's. False, with errno set: it failed.
bool send(int socket, const std::string& text, const std::vector<int>& descriptors);
// Takes the next message. nullopt, with errno set: there is none, the other end has gone (ECONNRESET), or the
// message is malformed (EBADMSG). `flags` as for recvmsg(2).
std::optional<Message> receive(int socket, int flags);

}  // namespace pbs::host::launch_message

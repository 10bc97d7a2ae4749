// The messages between a server and its launcher (launcher.h), over a socket that preserves their boundaries.
// The server requests a start by "JOB_ID RUN_COUNT". The launcher answers with the same text and two
// descriptors: of the warden, and of the pipe that the shepherd writes to. If there is no warden, the answer
// is the text, a blank and the reason. The server requests the removal of a start's files by "JOB_ID
// RUN_COUNT forget", which has no answer.
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

// Sends a message with descriptors, which the caller keeps. False: that failed, and errno is set.
bool send(int socket, const std::string& text, const std::vector<int>& descriptors);
// Receives the next message. `flags` as for recvmsg(2). nullopt, with errno set: there is no message, the
// other process is gone (ECONNRESET), or the message is malformed (EBADMSG).
std::optional<Message> receive(int socket, int flags);

}  // namespace pbs::host::launch_message

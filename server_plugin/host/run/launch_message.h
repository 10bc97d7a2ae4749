// What a server and its launcher (launcher.h) tell each other over a socket that keeps messages apart: a
// request is "JOB_ID RUN_COUNT"; its answer is the same with the descriptors of the warden and of the pipe by
// which the shepherd tells, or with a blank and the reason why there is no warden. "JOB_ID RUN_COUNT forget"
// asks for the end of all files of the start, and has no answer.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/run/runner.h"

namespace pbs::host::launch_message {

struct Message {
    RunId id;
    std::string note{};  // behind the two
    std::vector<Fd> descriptors{};
};

inline constexpr const char* kForget = "forget";

std::string write(const RunId& id, const std::string& note);
// None for what isn't such a text.
std::optional<Message> parse(std::string_view text);

// Sends a message with descriptors, which stay the caller's. False, and errno set, if that fails.
bool send(int socket, const std::string& text, const std::vector<int>& descriptors);
// The next message; none, and errno set, if there is none, the other end has gone (ECONNRESET), or it can't
// be understood (EBADMSG). `flags` as of recvmsg(2).
std::optional<Message> receive(int socket, int flags);

}  // namespace pbs::host::launch_message

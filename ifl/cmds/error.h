// Errors of the commands: one line for the user, and the program's exit status.
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace pbs::cmds {

struct Error {
    std::string message;
    // The exit status: 2 for a wrong command line, 1 for other failures found by the command itself. For
    // refusals by the server, exit_status() makes it of the PBS error number.
    int status = 2;
};

template <class T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(std::string message, int status = 2) {
    return tl::unexpected<Error>(Error{std::move(message), status});
}

}  // namespace pbs::cmds

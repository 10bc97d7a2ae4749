// Gets a record from a running server, through the C API.
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace pbs::replay {

struct AskError {
    int status = 1;  // exit status of the command
    std::string message;
};

// Asks for a record. An empty `server` is the default one, an empty `sched` the scheduler default. With
// `next`, waits for the server's next cycle, however long that takes, and returns its record; otherwise the
// server runs a cycle for the record. Errors: the server can't be reached, or refuses (only operators and
// managers may ask).
tl::expected<std::string, AskError> ask_record(const std::string& server, const std::string& sched,
                                               bool next);

}  // namespace pbs::replay

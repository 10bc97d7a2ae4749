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
// `next`, waits for the server's next cycle, however long, and returns that cycle's record; otherwise the
// record is of a cycle at this moment. Errors: the server can't be reached, or refuses (operators and
// managers may ask).
tl::expected<std::string, AskError> ask_record(const std::string& server, const std::string& sched,
                                               bool next);

}  // namespace pbs::replay

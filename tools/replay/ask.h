// A record from a running server, through the C API.
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace pbs::replay {

struct AskError {
    int status = 1;  // that a command exits with
    std::string message;
};

// `server` is empty for the default one, `sched` for the scheduler default. Errors: the server can't be
// reached, or refuses (operators and managers may have a record).
// With `next`, this waits for the next cycle that the server runs, however long that takes, and gets its
// record. Without it, the record is of a cycle at this moment.
tl::expected<std::string, AskError> ask_record(const std::string& server, const std::string& sched,
                                               bool next);

}  // namespace pbs::replay

// The errors of the bundled server, which are values and never exceptions.
//
// The folder base/ has the functions on which the server is built, and which know nothing of jobs: files and
// descriptors (posix.h), the directories of PBS_HOME (home.h), the clock that tests move (clock.h), users
// (users.h), mail (mail.h), the log (log.h) and the accounting records (accounting.h), each with a file for
// each day (daily_file.h). A function that can fail returns a Result. Its message names the file and the
// reason:
//   if (auto locked = home.lock(); !locked) return fail(PBSE_SYSTEM, locked.error().message);
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "ifl/error.h"

namespace pbs::host {

// An error has a code of the batch protocol, which goes into the reply unchanged, and a message, which names
// the input, the place and what was expected. If the message is empty, the reply has the usual text of the
// code.
using ifl::Error;

template <typename T>
using Result = ifl::Result<T>;

inline tl::unexpected<Error> fail(int code, std::string message = {}) {
    return tl::unexpected<Error>(Error{code, std::move(message)});
}

}  // namespace pbs::host

// Errors of the bundled server: values, never exceptions.
//
// The room base/ is the machine beneath the server, and knows nothing of jobs: files and descriptors
// (posix.h), the folders of a home (home.h), the clock that tests move (clock.h), users (users.h), mail
// (mail.h), the log (log.h) and the accounting log (accounting.h), each a file a day (daily_file.h). Whatever
// can fail returns a Result; its message names the file and the reason:
//   if (auto locked = home.lock(); !locked) return fail(PBSE_SYSTEM, locked.error().message);
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "ifl/error.h"

namespace pbs::host {

// The code is one of the batch protocol's, so that it can go into a reply as it is. The message names the
// input, the place and what was expected; an empty message stands for the code's usual text.
using ifl::Error;

template <typename T>
using Result = ifl::Result<T>;

inline tl::unexpected<Error> fail(int code, std::string message = {}) {
    return tl::unexpected<Error>(Error{code, std::move(message)});
}

}  // namespace pbs::host

// The errors of the scheduler, as values.
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace pbs::sched {

// Why the scheduler can't work by a configuration or a list that it was given: one sentence that names the
// object or the line, and what was expected there.
struct Error {
    std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

}  // namespace pbs::sched

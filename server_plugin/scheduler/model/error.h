// The errors of the scheduler, as values.
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace pbs::sched {

// The mistake in a configuration or a list that the scheduler can't use: one sentence that names the object
// or the line, and what was expected.
struct Error {
    std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

}  // namespace pbs::sched

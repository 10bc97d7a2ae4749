#pragma once

#include <string>
#include <tl/expected.hpp>

namespace pbs::sched {

// Why a configuration can't be scheduled by: one sentence that names the object, the attribute and what was
// expected.
struct Error {
    std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

}  // namespace pbs::sched

// Errors of the client library.
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace pbs::ifl {

/// A PBS error number (ifl/pbs_error.h) and a message for people.
struct Error {
    int code = 0;
    std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

}  // namespace pbs::ifl

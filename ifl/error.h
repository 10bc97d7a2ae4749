// Errors of this folder.
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace pbs::ifl {

/// What went wrong: a PBS error number (ifl/pbs_error.h) and a message for the person who reads it.
struct Error {
    int code = 0;
    std::string message;
};

template <class T>
using Result = tl::expected<T, Error>;

}  // namespace pbs::ifl

// Errors of the bundled server: values, never exceptions.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "ifl/error.h"

namespace pbs::host {

// The code is one of the batch protocol's, so that it can go into a reply as it is. The message names the
// input, the place and what was expected; empty means: the code's usual text says it all.
using ifl::Error;

template <typename T>
using Result = ifl::Result<T>;

inline tl::unexpected<Error> fail(int code, std::string message = {}) {
    return tl::unexpected<Error>(Error{code, std::move(message)});
}

}  // namespace pbs::host

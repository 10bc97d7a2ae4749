#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <tl/expected.hpp>

namespace pbs::rrule {

// The reason why a rule, a zone, a date or a window was refused: one sentence for the person who typed it,
// naming the input and what was expected.
struct Error {
    std::string message;
    // Byte in the given text, from 0, if the error has a place.
    std::optional<std::size_t> position;
};

template <class T>
using Result = tl::expected<T, Error>;

}  // namespace pbs::rrule

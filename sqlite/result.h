// Errors about databases.
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace pbs::sqlite {

// The error is a text for people.
template <class T>
using Result = tl::expected<T, std::string>;

}  // namespace pbs::sqlite

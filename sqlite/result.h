// Errors of what is done with a database.
#ifndef PBSPOLICY_SQLITE_RESULT_H
#define PBSPOLICY_SQLITE_RESULT_H

#include <string>
#include <tl/expected.hpp>

namespace pbs::sqlite {

// The error is a text for people.
template <class T>
using Result = tl::expected<T, std::string>;

}  // namespace pbs::sqlite

#endif

// Errors of the bundled server: values, never exceptions.
#ifndef PBSPOLICY_HOST_ERROR_H
#define PBSPOLICY_HOST_ERROR_H

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace pbs::host {

// `code` is a PBSE_ number (15001 and up, the batch protocol's), so that it can go into a reply as it is.
// `message` names the input, the place and what was expected; empty means: the code's usual text says it all.
struct Error {
    int code = 0;
    std::string message;
};

template <typename T>
using Result = tl::expected<T, Error>;

inline tl::unexpected<Error> fail(int code, std::string message = {}) {
    return tl::unexpected<Error>(Error{code, std::move(message)});
}

}  // namespace pbs::host

#endif

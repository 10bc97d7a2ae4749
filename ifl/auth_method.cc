#include "ifl/auth_method.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "ifl/pbs_error.h"
#include "values/text.h"

namespace pbs::ifl {
std::string method_name(std::string_view text) {
    return values::lowered(text);
}

Result<AuthMethods> parse_auth_methods(std::string_view list) {
    AuthMethods methods{.reserved_port = false, .munge = false};
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t comma = std::min(list.find(',', begin), list.size());
        const std::string word = method_name(list.substr(begin, comma - begin));
        if (word == kReservedPortMethod) {
            methods.reserved_port = true;
        } else if (word == kMungeMethod) {
            methods.munge = true;
        } else {
            return tl::unexpected(Error{
                PBSE_NOSUP, fmt::format("authentication methods \"{}\": {} or {} expected, found \"{}\"",
                                        list, kReservedPortMethod, kMungeMethod, word)});
        }
        begin = comma + 1;
    }
    return methods;
}

}  // namespace pbs::ifl

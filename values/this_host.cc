#include "values/this_host.h"

#include <unistd.h>

#include <array>

#include "values/text.h"

namespace pbs::values {

bool is_this_host(std::string_view name) {
    const auto label = [](std::string_view whole) { return whole.substr(0, whole.find('.')); };
    std::array<char, 256> host{};
    return !name.empty() && gethostname(host.data(), host.size() - 1) == 0 &&
           same_word(label(name), label(host.data()));
}

}  // namespace pbs::values

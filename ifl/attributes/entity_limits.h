// Reads and writes the values of limits on entities (max_run, max_queued and others), such as
// "[u:ann=3],[g:staff=10],[o:PBS_ALL=20]".
// Each pair of brackets has a letter (a user, a group, a project, or all), a name, and the limit. The name
// PBS_GENERIC stands for each entity without a limit of its own.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace pbs::ifl {

inline constexpr std::string_view kGenericEntity = "PBS_GENERIC";
inline constexpr std::string_view kAllEntity = "PBS_ALL";

struct EntityLimit {
    char kind = 'u';                    // u, g, p or o
    std::string name{};                 // as given; kGenericEntity and kAllEntity are names too
    std::optional<std::string> most{};  // the text after the =, as given; nullopt: there is no =
    friend bool operator==(const EntityLimit&, const EntityLimit&) = default;
};

struct EntityLimitError {
    std::size_t at = 0;  // the byte of the text, from 0
    std::string expected;
};

// Reads one or more limits. Names may be in quotes; blanks are accepted where OpenPBS accepts them.
tl::expected<std::vector<EntityLimit>, EntityLimitError> parse_entity_limits(std::string_view text);

// The text "[u:ann=3]"; a name with blanks is in quotes.
std::string entity_limit_text(const EntityLimit& limit);
std::string entity_limits_text(const std::vector<EntityLimit>& limits);

}  // namespace pbs::ifl

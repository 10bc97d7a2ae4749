// The values of limits on entities (max_run, max_queued and others): "[u:ann=3],[g:staff=10],[o:PBS_ALL=20]".
// What is between the brackets is whom the limit is on, a user, a group, a project or all, by a letter and a
// name, and how much. PBS_GENERIC in the place of a name is each that has no limit of its own.
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
    char kind = 'u';                    // one of u, g, p and o
    std::string name{};                 // as given: kGenericEntity and kAllEntity are names here
    std::optional<std::string> most{};  // what is behind the =, as given; nothing: there is no =
    friend bool operator==(const EntityLimit&, const EntityLimit&) = default;
};

struct EntityLimitError {
    std::size_t at = 0;  // in the text
    std::string expected;
};

// Reads a value, one limit or several. Names may be in quotes; blanks are let pass where OpenPBS does.
tl::expected<std::vector<EntityLimit>, EntityLimitError> parse_entity_limits(std::string_view text);

// "[u:ann=3]"; a name with blanks is in quotes.
std::string entity_limit_text(const EntityLimit& limit);
std::string entity_limits_text(const std::vector<EntityLimit>& limits);

}  // namespace pbs::ifl

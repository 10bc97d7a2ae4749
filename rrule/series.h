// The occurrences of a rule that ends, from an instant on: bounded, for rules that anybody may give.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "rrule/zone.h"

namespace pbs::rrule {

struct Series {
    // From the start of an occurrence to that of the next one, as the wall clock shows it, when the rule's
    // FREQ is all that there is of it: a minute, an hour, a day, 7 days, 30 days, or 365 days.
    Seconds period{};
    std::string_view frequency;   // "DAILY"
    std::vector<Instant> starts;  // ascending
    std::vector<Local> readings;  // of the clock at each of them
};

struct SeriesError {
    enum class Kind {
        rule,      // the rule is wrong
        endless,   // it has neither COUNT nor UNTIL
        too_many,  // it has more occurrences than `most`
        none       // it has none from the start on
    };
    Kind kind{};
    std::string message;  // one sentence, for the person who typed the rule
};

// What a rule (RFC 5545 3.3.10, without DTSTART, RDATE and EXDATE) gives from `start` on, which is its
// DTSTART and counts only if the rule matches it. Work and memory grow with `most` and with the years until
// the last occurrence, whatever COUNT, UNTIL and FREQ say.
tl::expected<Series, SeriesError> series(std::string_view rule, Instant start, const Zone& zone,
                                         std::size_t most);

}  // namespace pbs::rrule

// Lists the occurrences of a finite rule from an instant on. The work is bounded, since any user may have
// written the rule.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "rrule/zone.h"

namespace pbs::rrule {

struct Series {
    // The distance between occurrences on the wall clock if the rule had nothing but its FREQ: a minute, an
    // hour, a day, 7 days, 30 days, or 365 days.
    Seconds period{};
    std::string_view frequency;   // "DAILY"
    std::vector<Instant> starts;  // ascending
    std::vector<Local> readings;  // of the wall clock at each start
};

struct SeriesError {
    enum class Kind {
        rule,      // the rule is wrong
        endless,   // the rule has neither COUNT nor UNTIL
        too_many,  // the rule has more occurrences than `most`
        none       // the rule has no occurrence from `start` on
    };
    Kind kind{};
    std::string message;  // one sentence, for the person who typed the rule
};

// The occurrences of a rule (RFC 5545 3.3.10, without DTSTART, RDATE and EXDATE) from `start` on, which
// serves as DTSTART and is itself an occurrence only if the rule matches it. Work and memory are limited by
// `most` and the years until the last occurrence, whatever COUNT, UNTIL and FREQ say.
tl::expected<Series, SeriesError> series(std::string_view rule, Instant start, const Zone& zone,
                                         std::size_t most);

}  // namespace pbs::rrule

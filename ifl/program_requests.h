// The extend strings and answers of requests from a program that schedules, for all that answer it: the
// bundled server, the policy service of an OpenPBS server, and pbs_simulate.
#pragma once

#include <chrono>
#include <cstdint>
#include <string_view>

#include "ifl/error.h"

namespace pbs::ifl {

/// The longest wait for changes, except on OpenPBS servers. After it the answer says that there was none.
inline constexpr std::chrono::seconds kLongestChangesWait{3600};

/// The most places of a start that is tested. The limit is needed because one call of the scheduler tests
/// all.
inline constexpr std::int64_t kMostTestedPlaces = 20'000;

/// A request for the changes after a version. `timeout`: seconds to wait for the first change.
struct AskedChanges {
    std::int64_t version = 0;
    std::int64_t timeout = 0;
};

/// Reads "version=N;timeout=SECONDS". PBSE_IVALREQ: the text is malformed, or a number is below 0.
Result<AskedChanges> read_changes(std::string_view extend);

/// Checks the number of places of a start that is tested. PBSE_IVALREQ: there are more than
/// kMostTestedPlaces.
Result<void> check_tested_places(std::int64_t places);

/// Reads the extend string of a start. Returns whether the scheduler's filters are to test the start, so that
/// they may refuse it. PBSE_IVALREQ: the string is neither empty nor "check=" with a boolean.
Result<bool> is_checked(std::string_view extend);

/// Returns the reason in a comment: the text after "Not Running: " or "Can Never Run: "; else the whole text.
std::string_view reason_in(std::string_view comment);

}  // namespace pbs::ifl

#include "ifl/program_requests.h"

#include <fmt/format.h>

#include <optional>

#include "ifl/pbs_error.h"
#include "values/amount.h"
#include "values/number.h"

namespace pbs::ifl {

Result<AskedChanges> read_changes(std::string_view extend) {
    constexpr std::string_view kVersion = "version=";
    constexpr std::string_view kTimeout = ";timeout=";
    const auto malformed = [extend] {
        return tl::unexpected(
            Error{PBSE_IVALREQ,
                  fmt::format("changes '{}': expected version=N;timeout=SECONDS, both at least 0", extend)});
    };
    const auto timeout_at = extend.find(kTimeout);
    if (!extend.starts_with(kVersion) || timeout_at == std::string_view::npos) return malformed();
    const auto version =
        values::number<std::int64_t>(extend.substr(kVersion.size(), timeout_at - kVersion.size()));
    const auto timeout = values::number<std::int64_t>(extend.substr(timeout_at + kTimeout.size()));
    if (!version || !timeout || *version < 0 || *timeout < 0) return malformed();
    return AskedChanges{*version, *timeout};
}

Result<void> check_tested_places(std::int64_t places) {
    if (places <= kMostTestedPlaces) return {};
    return tl::unexpected(
        Error{PBSE_IVALREQ, fmt::format("place: expected at most {} places", kMostTestedPlaces)});
}

Result<bool> is_checked(std::string_view extend) {
    constexpr std::string_view kCheck = "check=";
    if (extend.empty()) return false;
    const auto value = extend.starts_with(kCheck) ? values::parse_boolean(extend.substr(kCheck.size()))
                                                  : std::optional<bool>();
    if (!value)
        return tl::unexpected(Error{
            PBSE_IVALREQ, fmt::format("start '{}': expected nothing, check=True or check=False", extend)});
    return *value;
}

std::string_view reason_in(std::string_view comment) {
    for (const std::string_view begin : {"Not Running: ", "Can Never Run: "})
        if (comment.starts_with(begin)) return comment.substr(begin.size());
    return comment;
}

}  // namespace pbs::ifl

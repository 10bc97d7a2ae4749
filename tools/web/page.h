// Describes a page: an address with facts about a PBS server, as HTML for people and as JSON for programs.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tools/web/link.h"

namespace pbs::web {

using Json = nlohmann::ordered_json;

/// Returns the value of an optional or an expected as JSON; null: there is none.
template <class Value>
Json or_null(const Value& value) {
    return value ? Json(*value) : Json(nullptr);
}

/// The parameters of a request that its page knows.
using Query = std::map<std::string, std::string, std::less<>>;

/// Version of the form of all answers: the member "version", and the first number of openapi.json's version.
inline constexpr int kVersion = 1;

/// HTTP status of a request that is wrong.
inline constexpr int kBad = 400;
/// The most spans of the calendar in an answer.
inline constexpr std::size_t kMostSpans = 5000;

/// The answer to a request. For an error `json` is {"error": "..."}.
struct Answer {
    int status = 200;
    Json json = Json::object();
    /// The server's clock in seconds since the Epoch, for the member "time". An answer that differs from the
    /// last one only in this member isn't a new one.
    std::optional<std::int64_t> time = std::nullopt;
};

/// Makes an error answer with a message for people.
Answer refusal(int status, std::string_view message);

struct Parameter {
    std::string_view name;
    std::size_t longest;  ///< most bytes of its value
};

struct Page {
    std::string_view name;   ///< the address, without a slash
    std::string_view title;  ///< text in the menu
    std::span<const Parameter> parameters;
    /// The time for which an answer stays fresh and is given to all clients.
    std::chrono::seconds good_for;
    Answer (*ask)(Link& server, const Query& query);
};

/// Returns all pages in the order of the menu.
std::span<const Page* const> pages();
/// Finds a page by name; nullptr: there is none.
const Page* find_page(std::string_view name);

}  // namespace pbs::web

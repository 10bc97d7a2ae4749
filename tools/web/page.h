// A page: an address at which people get HTML, and programs JSON about a PBS server.
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

/// The parameters of an address, of those that the page has.
using Query = std::map<std::string, std::string, std::less<>>;

/// The version of the form of all answers: the member "version", and the first number of openapi.json's.
inline constexpr int kVersion = 1;

/// What is told at an address. Of an error `json` is {"error": "..."}.
struct Answer {
    int status = 200;
    Json json = Json::object();
    /// The server's clock, in seconds since the Epoch: the member "time". An answer that differs from another
    /// in this alone tells nothing new.
    std::optional<std::int64_t> time = std::nullopt;
};

/// An answer that is an error, which `message` tells people.
Answer refusal(int status, std::string_view message);

struct Parameter {
    std::string_view name;
    std::size_t longest;  ///< in bytes
};

struct Page {
    std::string_view name;   ///< the address, without a slash
    std::string_view title;  ///< as the menu has it
    std::span<const Parameter> parameters;
    /// For how long an answer is good: whoever asks meanwhile gets the same one.
    std::chrono::seconds good_for;
    Answer (*ask)(Link& server, const Query& query);
};

/// All of them, in the order of the menu.
std::span<const Page* const> pages();
/// nullptr: there is none of that name.
const Page* find_page(std::string_view name);

}  // namespace pbs::web

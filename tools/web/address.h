// What a request asks for, by its path and what it accepts.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pbs::web {

enum class Form { html, json, events };

struct Address {
    std::string name;  ///< without a slash and an ending; empty at the top
    Form form = Form::html;
};

/// `path` below `base` ("" or "/pbs"); nullopt: it isn't below it. The form is what the name ends with, .json
/// or .events, or else what `accept`, the header, says.
std::optional<Address> parse_address(std::string_view path, std::string_view accept, std::string_view base);

/// A path that a proxy puts before ours, without a slash at its end: "/pbs". nullopt: it is none, or has
/// characters that only somebody who means harm would put there.
std::optional<std::string> parse_prefix(std::string_view text);

}  // namespace pbs::web

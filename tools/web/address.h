// Parses a request's address: the page and the form that it asks for.
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

/// Parses `path` below `base` ("" or "/pbs"); nullopt: the path isn't below it. The form follows from the
/// ending, .json or .events, or else from `accept`, the header.
std::optional<Address> parse_address(std::string_view path, std::string_view accept, std::string_view base);

/// Parses the path that a proxy puts before ours, without the slash at its end: "/pbs". nullopt: the text is
/// no path, or has characters that suggest an attack.
std::optional<std::string> parse_prefix(std::string_view text);

}  // namespace pbs::web

// Parses the address of a request: which page it asks for, and in which form.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace pbs::web {

enum class Form { html, json, events };

struct Address {
    std::string name;  ///< page without slash and ending; empty: the top
    Form form = Form::html;
};

/// Parses `path`, which must be below `base` ("" or "/pbs"); nullopt: it isn't. The form follows from the
/// ending, .json or .events, or else from `accept`, the value of the header Accept.
std::optional<Address> parse_address(std::string_view path, std::string_view accept, std::string_view base);

/// Parses the path that a proxy puts before the addresses of this program: "/pbs", or "/pbs/" with the slash
/// removed. nullopt: the text is no path, or has characters that suggest an attack.
std::optional<std::string> parse_prefix(std::string_view text);

}  // namespace pbs::web

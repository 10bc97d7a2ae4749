#include "tools/web/address.h"

#include <algorithm>

namespace pbs::web {
namespace {

constexpr std::size_t kLongestPrefix = 200;

bool take_ending(std::string& name, std::string_view ending) {
    if (!name.ends_with(ending)) return false;
    name.resize(name.size() - ending.size());
    return true;
}

Form accepted(std::string_view accept) {
    const auto has = [&](std::string_view type) { return accept.find(type) != std::string_view::npos; };
    if (has("text/html")) return Form::html;
    if (has("text/event-stream")) return Form::events;
    return has("application/json") ? Form::json : Form::html;
}

}  // namespace

std::optional<Address> parse_address(std::string_view path, std::string_view accept, std::string_view base) {
    if (!path.starts_with(base)) return std::nullopt;
    path.remove_prefix(base.size());
    if (!path.empty() && path.front() != '/') return std::nullopt;
    if (!path.empty()) path.remove_prefix(1);
    Address address{std::string(path), Form::html};
    if (take_ending(address.name, ".json"))
        address.form = Form::json;
    else if (take_ending(address.name, ".events"))
        address.form = Form::events;
    else
        address.form = accepted(accept);
    return address;
}

std::optional<std::string> parse_prefix(std::string_view text) {
    while (text.ends_with('/')) text.remove_suffix(1);
    const auto plain = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               std::string_view("/-_.~").find(c) != std::string_view::npos;
    };
    // Refuse "//host", with which a path would lead to another host.
    const bool good =
        text.empty() ||
        (text.front() == '/' && text.size() <= kLongestPrefix && text.find("//") == std::string_view::npos &&
         text.find("..") == std::string_view::npos && std::ranges::all_of(text, plain));
    return good ? std::optional(std::string(text)) : std::nullopt;
}

}  // namespace pbs::web

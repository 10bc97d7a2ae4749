#include "ifl/cmds/json_value.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "ifl/cmds/attr_list.h"
#include "text/json_document.h"

namespace pbs::cmds {

namespace {

// The number of decimal digits that a double always keeps.
constexpr std::size_t kMostDigits = 15;

// Removes leading digits from the text and returns how many there were.
std::size_t take_digits(std::string_view& text) {
    const std::size_t count = std::min(text.find_first_not_of("0123456789"), text.size());
    text.remove_prefix(count);
    return count;
}

// Returns whether a JSON reader and writer would reproduce the text as a number.
bool is_shortest_number(std::string_view text) {
    if (text == "-0") return false;
    if (text.starts_with('-')) text.remove_prefix(1);
    const bool leading_zero = text.starts_with('0');
    const std::size_t whole = take_digits(text);
    if (whole == 0 || (leading_zero && whole > 1)) return false;
    std::size_t fraction = 0;
    if (text.starts_with('.')) {
        text.remove_prefix(1);
        const bool trailing_zero = text.ends_with('0');
        fraction = take_digits(text);
        if (fraction == 0 || trailing_zero) return false;
    }
    return text.empty() && whole + fraction <= kMostDigits;
}

// Returns whether the value is a limit such as "[u:ann=5]".
bool is_limit(const nlohmann::ordered_json& value) {
    if (!value.is_string()) return false;
    const auto& text = value.get_ref<const std::string&>();
    return text.starts_with('[') && text.ends_with(']') && text.find('=') != std::string::npos;
}

}  // namespace

nlohmann::ordered_json json_value(std::string_view text) {
    if (is_shortest_number(text)) return text::parse_ordered_json(text);
    return std::string(text);
}

void add_json(nlohmann::ordered_json& object, const std::string& key, nlohmann::ordered_json value) {
    const auto found = object.find(key);
    if (found == object.end())
        object[key] = std::move(value);
    else if (is_limit(*found) && is_limit(value))
        *found = found->get<std::string>() + "," + value.get<std::string>();
    else if (found->is_array())
        found->push_back(std::move(value));
    else
        *found = nlohmann::ordered_json::array({std::move(*found), std::move(value)});
}

void add_json(nlohmann::ordered_json& object, const attrl& attribute, nlohmann::ordered_json value) {
    const std::string name(view(attribute.name));
    const std::string resource(view(attribute.resource));
    if (resource.empty()) return add_json(object, name, std::move(value));
    const auto found = object.find(name);
    if (found != object.end() && !found->is_object())
        return add_json(object, name + "." + resource, std::move(value));
    add_json(object[name], resource, std::move(value));
}

}  // namespace pbs::cmds

#include "objects/config_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "objects/forms.h"
#include "objects/problems.h"
#include "text/json.h"
#include "text/json_document.h"
#include "values/object_types.h"

namespace pbs::objects {
namespace {

using Json = nlohmann::json;

// ---- Writing. The text is made without nlohmann, whose ordered objects search for each key one by one.

// Writes an object's attributes. `colon` and `comma` stand between key and value, and between attributes.
std::string object_text(const Object& object, std::string_view colon, std::string_view comma) {
    std::string text = "{";
    for (const auto& [index, value] : object.values()) {
        const Attribute& attribute = attributes(object.type())[index];
        if (text.size() > 1) text += comma;
        text.append(text::to_json(attribute.name)).append(colon);
        if (!attribute.is_list()) {
            text += text::to_json(format_value(attribute, value));
            continue;
        }
        std::string_view separator = "[";
        for (const std::string& item : format_items(attribute, value)) {
            text.append(separator).append(text::to_json(item));
            separator = comma;
        }
        text += separator == "[" ? "[]" : "]";
    }
    return text + "}";
}

// ---- Reading.

// Returns the kind or the text of a JSON value, for errors.
std::string found_text(const Json& json) {
    return json.is_structured() ? fmt::format("an {}", json.type_name()) : text::write_json(json);
}

void read_attribute(std::string_view title, std::string_view name, const Json& json, ObjectText& object,
                    Problems& problems) {
    AttributeText& attribute = object.attributes.emplace_back(AttributeText{std::string(name), false, {}});
    if (std::optional<std::string> text = text::from_json(json)) {
        attribute.items.push_back(std::move(*text));
        return;
    }
    if (!json.is_array()) {
        problems.add(
            fmt::format("{}: {}: found {}, expected a string, as in \"True\" or \"24:00:00\", or an "
                        "array of strings",
                        title, name, found_text(json)));
        return;
    }
    attribute.is_list = true;
    for (const Json& element : json) {
        if (std::optional<std::string> text = text::from_json(element)) {
            attribute.items.push_back(std::move(*text));
        } else {
            problems.add(fmt::format("{}: {}: found {} in the array, expected strings only", title, name,
                                     found_text(element)));
        }
    }
}

ObjectText read_object(ObjectType type, std::string_view name, const Json& json, Problems& problems) {
    ObjectText object{type, std::string(name), {}};
    if (!json.is_object()) {
        problems.add(
            fmt::format("{}: found {}, expected an object of attributes, as in {{\"comment\": \"\"}}",
                        object_title(type, name), found_text(json)));
        return object;
    }
    for (const auto& [key, value] : json.items())
        read_attribute(object_title(type, name), key, value, object, problems);
    return object;
}

void read_section(ObjectType type, const Json& json, std::vector<ObjectText>& objects, Problems& problems) {
    if (type == ObjectType::server) {
        objects.push_back(read_object(type, "", json, problems));
        return;
    }
    if (!json.is_object()) {
        problems.add(fmt::format("{}: found {}, expected an object with the name of each {} as a key",
                                 type_name(type), found_text(json), type_name(type)));
        return;
    }
    for (const auto& [name, object] : json.items())
        objects.push_back(read_object(type, name, object, problems));
}

const ObjectType* section_type(std::string_view key) {
    const auto* found = std::ranges::find(kConfiguredTypes, key, type_name);
    return found == kConfiguredTypes.end() ? nullptr : found;
}

void read_format(const Json& json, Problems& problems) {
    const auto format = json.find("format");
    if (format == json.end()) {
        problems.add(fmt::format("there is no \"format\": expected \"format\": {}", kConfigFormat));
    } else if (*format != kConfigFormat) {
        problems.add(fmt::format("format: found {}, this version reads format {}", found_text(*format),
                                 kConfigFormat));
    }
}

// Returns an error's text with line and column. The text of nlohmann is "[json.exception...] parse error at
// line 1, column 5: ...": only the part behind the place is used.
std::string parse_problem(std::string_view json, const text::JsonError& error) {
    const std::string_view before = json.substr(0, error.byte == 0 ? 0 : error.byte - 1);
    const auto line = 1 + std::ranges::count(before, '\n');
    const std::size_t line_start = before.rfind('\n') + 1;  // if there is no newline: npos + 1 is 0
    std::string_view what = error.message;
    const std::size_t place = what.find("column ");
    if (place != std::string_view::npos)
        what.remove_prefix(std::min(what.find(": ", place) + 2, what.size()));
    return fmt::format("line {}, column {}: {}", line, before.size() - line_start + 1, what);
}

// Reports keys that occur twice in an object, of which nlohmann would keep the last without an error. A SAX
// parser of its own does this, because nlohmann's DOM parser with a callback would go through all members of
// an object after each member.
class KeyWatch : public nlohmann::json_sax<Json> {
  public:
    explicit KeyWatch(Problems& problems) : problems_(problems) {}
    bool null() override { return true; }
    bool boolean(bool) override { return true; }
    bool number_integer(number_integer_t) override { return true; }
    bool number_unsigned(number_unsigned_t) override { return true; }
    bool number_float(number_float_t, const string_t&) override { return true; }
    bool string(string_t&) override { return true; }
    bool binary(binary_t&) override { return true; }
    bool start_object(std::size_t) override {
        keys_.emplace_back();
        return true;
    }
    bool key(string_t& key) override {
        if (!keys_.back().insert(key).second)
            problems_.add(fmt::format("the key {} is twice in one object", text::to_json(key)));
        return true;
    }
    bool end_object() override {
        keys_.pop_back();
        return true;
    }
    bool start_array(std::size_t) override { return true; }
    bool end_array() override { return true; }
    bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
        return false;  // parse() reports the error
    }

  private:
    Problems& problems_;
    std::vector<std::set<std::string>> keys_;
};

Result<Json> parse(std::string_view json, Problems& problems) {
    auto parsed = text::read_json(json);
    if (!parsed && parsed.error().byte == 0) return fail(Code::bad_value, parsed.error().message);
    if (!parsed) return fail(Code::bad_value, parse_problem(json, parsed.error()));
    KeyWatch watch(problems);
    (void)Json::sax_parse(json, &watch);
    return *std::move(parsed);
}

// Returns the value of an attribute from its text in the history. The value of an attribute that isn't a list
// is read as if it was typed in qmgr. The syntax of each element of a list is checked.
Result<Value> value_of(const Attribute& attribute, const AttributeText& text) {
    if (attribute.is_list() != text.is_list) {
        return fail(Code::bad_value, fmt::format("{}: expected {}", attribute.name,
                                                 attribute.is_list() ? "an array" : "a string"));
    }
    return value_of_items(attribute, text.items);
}

}  // namespace

std::string to_json(const Object* object) {
    return object ? object_text(*object, ":", ",") : "null";
}

Result<std::optional<Object>> from_json(ObjectType type, std::string_view name, std::string_view json) {
    Problems problems;
    const Result<Json> parsed = parse(json, problems);
    if (!parsed) return tl::unexpected(parsed.error());
    if (parsed->is_null()) return std::nullopt;
    const ObjectText text = read_object(type, name, *parsed, problems);
    if (!problems.empty()) return tl::unexpected(problems.error());
    Object object(type, std::string(name));
    for (const AttributeText& member : text.attributes) {
        const Attribute* attribute = find_attribute(type, member.name);
        if (!attribute) {
            return fail(Code::bad_value,
                        fmt::format("'{}' is no attribute that this version knows", member.name));
        }
        Result<Value> value = value_of(*attribute, member);
        if (!value) return tl::unexpected(value.error());
        object.assign(*attribute, std::move(*value));
    }
    return object;
}

std::string to_document(const Snapshot& snapshot) {
    std::string text = fmt::format("{{\n  \"format\": {}", kConfigFormat);
    for (const ObjectType type : kConfiguredTypes) {
        text += fmt::format(",\n  {}: ", text::to_json(type_name(type)));
        const ObjectList& objects = snapshot.objects(type);
        if (type == ObjectType::server) {
            text += objects.empty() ? "{}" : object_text(*objects.front(), ": ", ", ");
            continue;
        }
        std::string_view separator = "{\n    ";
        for (const ObjectPtr& object : objects) {
            text += fmt::format("{}{}: {}", separator, text::to_json(object->name()),
                                object_text(*object, ": ", ", "));
            separator = ",\n    ";
        }
        text += objects.empty() ? "{}" : "\n  }";
    }
    return text + "\n}\n";
}

Result<std::vector<ObjectText>> from_document(std::string_view json) {
    Problems problems;
    const Result<Json> document = parse(json, problems);
    if (!document) return tl::unexpected(document.error());
    if (!document->is_object()) {
        return fail(Code::bad_value, fmt::format("found {}, expected an object with the key \"format\"",
                                                 found_text(*document)));
    }
    read_format(*document, problems);
    std::vector<ObjectText> objects;
    for (const auto& [key, section] : document->items()) {
        // skip the section "host", which the server itself reads
        if (key == "format" || key == "host") continue;
        if (const ObjectType* type = section_type(key)) {
            read_section(*type, section, objects, problems);
        } else {
            problems.add(fmt::format("unknown key {}: expected format, host, {}", text::to_json(key),
                                     values::type_list(&values::ObjectTypeRow::configured)));
        }
    }
    if (!problems.empty()) return tl::unexpected(problems.error());
    return objects;
}

}  // namespace pbs::objects

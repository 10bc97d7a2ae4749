#include "tests/web/schema.h"

#include <algorithm>
#include <set>

namespace pbs::web {
namespace {

using nlohmann::json;

const std::string kReference = "#/components/schemas/";

class Checker {
  public:
    explicit Checker(const json& document) : schemas_(document.at("components").at("schemas")) {}

    void check(const json& value, const json& schema, const std::string& at) {
        static const std::set<std::string> known = {
            "$ref",     "type",  "properties", "required",    "additionalProperties",
            "items",    "enum",  "const",      "description", "minItems",
            "maxItems", "allOf", "anyOf"};
        for (const auto& [keyword, ignored] : schema.items())
            if (!known.contains(keyword)) say(at, "the schema has an unknown keyword " + keyword);
        if (schema.contains("$ref")) check(value, named(schema["$ref"].get<std::string>()), at);
        if (schema.contains("allOf"))
            for (const json& part : schema["allOf"]) check(value, part, at);
        if (schema.contains("anyOf")) any_of(value, schema["anyOf"], at);
        if (schema.contains("const") && value != schema["const"])
            say(at, "expected " + schema["const"].dump() + ", is " + value.dump());
        if (schema.contains("enum") && std::ranges::find(schema["enum"], value) == schema["enum"].end())
            say(at, "expected one of " + schema["enum"].dump() + ", is " + value.dump());
        if (schema.contains("type") && !is_of(value, schema["type"])) {
            say(at, "expected " + schema["type"].dump() + ", is " + value.dump().substr(0, 60));
            return;
        }
        if (value.is_object()) object(value, schema, at);
        if (value.is_array()) array(value, schema, at);
    }
    const json& named(const std::string& reference) const {
        return schemas_.at(reference.substr(kReference.size()));
    }
    std::vector<std::string> found;

  private:
    void say(const std::string& at, const std::string& what) { found.push_back(at + ": " + what); }

    static bool is_of(const json& value, const json& type) {
        if (type.is_array())
            return std::ranges::any_of(type, [&](const json& one) { return is_of(value, one); });
        if (type == "null") return value.is_null();
        if (type == "string") return value.is_string();
        if (type == "integer") return value.is_number_integer();
        if (type == "number") return value.is_number();
        if (type == "boolean") return value.is_boolean();
        if (type == "object") return value.is_object();
        return type == "array" && value.is_array();
    }
    void any_of(const json& value, const json& schemas, const std::string& at) {
        std::vector<std::string> all;
        for (const json& schema : schemas) {
            Checker one(*this);
            one.found.clear();
            one.check(value, schema, at);
            if (one.found.empty()) return;
            all.insert(all.end(), one.found.begin(), one.found.end());
        }
        found.insert(found.end(), all.begin(), all.end());
    }
    void object(const json& value, const json& schema, const std::string& at) {
        const json properties = schema.value("properties", json::object());
        for (const json& name : schema.value("required", json::array()))
            if (!value.contains(name.get<std::string>())) say(at, "expected a member " + name.dump());
        for (const auto& [name, member] : value.items()) {
            const std::string below = at + "/" + name;
            if (properties.contains(name))
                check(member, properties[name], below);
            else if (schema.contains("additionalProperties") && schema["additionalProperties"] == false)
                say(below, "isn't in the schema");
            else if (schema.contains("additionalProperties"))
                check(member, schema["additionalProperties"], below);
        }
    }
    void array(const json& value, const json& schema, const std::string& at) {
        if (value.size() < schema.value("minItems", std::size_t{0}) ||
            value.size() > schema.value("maxItems", value.size()))
            say(at, "has " + std::to_string(value.size()) + " elements");
        if (!schema.contains("items")) return;
        for (std::size_t i = 0; i < value.size(); ++i)
            check(value[i], schema["items"], at + "/" + std::to_string(i));
    }

    const json& schemas_;
};

}  // namespace

std::vector<std::string> Schemas::errors(const json& value, const std::string& schema) const {
    Checker checker(document_);
    checker.check(value, checker.named(kReference + schema), "");
    return checker.found;
}

std::vector<std::string> Schemas::of_path(const std::string& path) const {
    const json& schema = document_.at("paths")
                             .at(path)
                             .at("get")
                             .at("responses")
                             .at("200")
                             .at("content")
                             .at("application/json")
                             .at("schema");
    std::vector<std::string> names;
    for (const json& one : schema.contains("anyOf") ? schema["anyOf"] : json::array({schema}))
        names.push_back(one.at("$ref").get<std::string>().substr(kReference.size()));
    return names;
}

}  // namespace pbs::web

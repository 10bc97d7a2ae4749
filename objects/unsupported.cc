#include "objects/unsupported.h"

#include <fmt/format.h>

#include <algorithm>

#include "objects/formula.h"
#include "objects/output_file.h"
#include "objects/snapshot.h"

namespace pbs::objects {
namespace {

// False, what is the default anyway, or without a default 0 and `none`. A default that asks for something is
// asked for by who sets it too.
bool asks_for_nothing(const Attribute& attribute, const Value& value, Asks asks) {
    const std::string text = format_value(attribute, value);
    if (text == "False") return true;
    if (asks == Asks::always) return false;
    if (attribute.default_value.empty()) return text == "0" || text == "none";
    return text == attribute.default_value;
}

class Findings {
  public:
    explicit Findings(const Object& object) : object_(object) {}

    void look(const Unsupported& row) {
        if (row.attribute.empty()) return add(row, fmt::format("is not acted on: {}", row.why));
        const Attribute& attribute = *find_attribute(row.type, row.attribute);
        if (const Value* value = object_.set_value(attribute)) return look(row, attribute, *value);
        if (row.asks == Asks::always && applies_by_default())
            add(row, fmt::format(": {}, {} by default, is not acted on: {}", attribute.name,
                                 attribute.default_value, row.why));
    }
    std::vector<UnsupportedSetting> take() { return std::move(found_); }

  private:
    // The Origin scheduler has nothing of the kind: nobody expects it of its policies.
    bool applies_by_default() const {
        return object_.type() != ObjectType::policy || object_.text("algorithm") == "standard";
    }

    void look(const Unsupported& row, const Attribute& attribute, const Value& value) {
        switch (row.asks) {
            case Asks::element:
                for (const std::string& key : std::get<StringList>(value))
                    if (key.starts_with(row.word))
                        add(row, fmt::format(": {} {} is not acted on: {}", attribute.name, key, row.why));
                return;
            case Asks::term:
                if (formula_names(std::get<std::string>(value), row.word))
                    add(row, fmt::format(": {} in {} counts as 0: {}", row.word, attribute.name, row.why));
                return;
            case Asks::elsewhere:
                if (const auto checked = check_output_file(std::get<std::string>(value)); !checked)
                    add(row, fmt::format(": {} is not acted on: {}", attribute.name, checked.error()));
                return;
            case Asks::without:
                if (!asks_for_nothing(attribute, value, row.asks) && !object_.is_set(row.word))
                    add(row, fmt::format(": {} is not acted on without {}", attribute.name, row.word));
                return;
            case Asks::of:
                if (!asks_for_nothing(attribute, value, row.asks) && object_.text("algorithm") != row.word)
                    add(row,
                        fmt::format(": {} is not acted on: it is of algorithm {}", attribute.name, row.word));
                return;
            case Asks::anything:
            case Asks::always:
                if (!asks_for_nothing(attribute, value, row.asks))
                    add(row, fmt::format(": {} is not acted on: {}", attribute.name, row.why));
                return;
        }
    }

    void add(const Unsupported& row, std::string_view text) {
        const bool whole = row.attribute.empty();
        found_.push_back({row.attribute, fmt::format("{}{}{}", object_title(object_.type(), object_.name()),
                                                     whole ? " " : "", text)});
    }

    const Object& object_;
    std::vector<UnsupportedSetting> found_;
};

}  // namespace

std::vector<UnsupportedSetting> unsupported_settings(const Object& object) {
    Findings findings(object);
    for (const Unsupported& row : unsupported_table())
        if (row.type == object.type()) findings.look(row);
    return findings.take();
}

std::vector<std::string> unsupported_lines(const Object& object) {
    std::vector<std::string> lines;
    for (UnsupportedSetting& setting : unsupported_settings(object)) lines.push_back(std::move(setting.text));
    return lines;
}

std::vector<std::string> unsupported_by_change(const Object* before, const Object* after,
                                               std::span<const std::string_view> named) {
    if (after == nullptr) return {};
    std::vector<std::string> lines;
    const std::vector<std::string> old = before ? unsupported_lines(*before) : std::vector<std::string>{};
    for (UnsupportedSetting& setting : unsupported_settings(*after)) {
        const bool is_named = std::ranges::find(named, setting.attribute) != named.end();
        if (is_named || std::ranges::find(old, setting.text) == old.end())
            lines.push_back(std::move(setting.text));
    }
    return lines;
}

}  // namespace pbs::objects

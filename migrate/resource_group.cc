#include "migrate/resource_group.h"

#include <fmt/format.h>

#include <map>
#include <optional>
#include <set>

#include "migrate/words.h"
#include "objects/schema.h"
#include "objects/value.h"
#include "values/number.h"

namespace pbs::migrate {
namespace {

// Groups that every tree of pbs_sched has, without any file.
constexpr std::string_view kRoot = "root";
constexpr std::string_view kTreeRoot = "TREEROOT";
constexpr std::string_view kUnknown = "unknown";

// Returns whether an element of an fs_group may have this name.
bool is_element_name(std::string_view name) {
    const auto* attribute = objects::find_attribute(objects::ObjectType::fs_group, "tree_element");
    return objects::value_of_items(*attribute, {fmt::format("{}:root=1", name)}).has_value();
}

class ResourceGroupReader {
  public:
    explicit ResourceGroupReader(const std::string& file) { result_.file = file; }

    void read_line(std::string_view line, int line_number) {
        const auto words = words_of(line, '\n');
        if (words.empty() || words[0].text.starts_with('#') || words[0].text.starts_with('*')) return;
        number_ = line_number;
        if (words.size() < 4)
            return mistake({{}, words.back().column + static_cast<int>(words.back().text.size())},
                           words[0].text,
                           fmt::format("{} of 4 words are there, expected a name, a number, a parent and "
                                       "shares",
                                       words.size()));
        read_group(words);
        if (words.size() > 4)
            note(words[0].text,
                 fmt::format("{} after the shares is left out: the older scheduler read nothing there",
                             in_quotes(words[4].text)));
    }

    ResourceGroup finish() { return std::move(result_); }

  private:
    void read_group(const std::vector<Word>& words) {
        ShareGroup group;
        group.name = words[0].text;
        group.parent = words[2].text == kTreeRoot ? kRoot : words[2].text;
        group.line = number_;
        const auto children = values::number<std::int32_t>(words[1].text);
        const auto shares = values::number<std::int32_t>(words[3].text);
        if (!children)
            mistake(words[1], group.name,
                    fmt::format("{} is not the number of a group", in_quotes(words[1].text)));
        if (!shares || *shares < 0)
            mistake(
                words[3], group.name,
                fmt::format("{} is no number of shares, expected 0 to 2147483647", in_quotes(words[3].text)));
        if (!check_name(words[0]) || !check_parent(words[2], group)) return;
        if (!children || !shares || *shares < 0) return;
        group.shares = *shares;
        group.number = *children;
        seen_.emplace(group.name, number_);
        result_.groups.push_back(std::move(group));
    }

    bool check_name(const Word& word) {
        if (word.text == kUnknown || word.text == kTreeRoot) {
            mistake(word, word.text,
                    fmt::format("is a group of every tree already, expected another name than {} and {}",
                                kTreeRoot, kUnknown));
            return false;
        }
        if (const auto found = seen_.find(std::string(word.text)); found != seen_.end()) {
            mistake(word, word.text,
                    fmt::format("is in line {} already, expected each name once", found->second));
            return false;
        }
        if (word.text == kRoot) {
            leave_out(word.text,
                      "in an fs_group root is the root of the tree and no entity; its jobs count among those "
                      "of unknown_shares");
            return false;
        }
        if (is_element_name(word.text)) return true;
        mistake(word, "",
                fmt::format("{} is no name for an element of a tree, expected letters, digits and any of "
                            "-_.:+@$, at most 255",
                            in_quotes(word.text)));
        return false;
    }

    bool check_parent(const Word& word, const ShareGroup& group) {
        if (word.text == kUnknown) {
            leave_out(group.name,
                      "its parent is unknown, to which all entities outside the tree belong, each with one "
                      "share of unknown_shares");
            return false;
        }
        if (group.parent != kRoot && left_out_.contains(group.parent)) {
            leave_out(group.name, fmt::format("its parent {} is left out", group.parent));
            return false;
        }
        if (group.parent == kRoot || (group.parent != group.name && seen_.contains(group.parent)))
            return true;
        mistake(word, group.name,
                fmt::format("its parent {} isn't there, expected root or a name of an earlier line",
                            in_quotes(word.text)));
        return false;
    }

    void mistake(const Word& word, std::string_view option, std::string message) {
        result_.mistakes.push_back({result_.file, number_, word.column,
                                    option.empty() ? "" : printable(option), std::move(message), false,
                                    kLeftOut});
    }

    void leave_out(std::string_view name, const std::string& why) {
        left_out_.emplace(name);
        note(name, "is left out: " + why);
    }

    void note(std::string_view name, const std::string& message) {
        result_.notes.push_back(
            fmt::format("{}:{}: {}: {}", result_.file, number_, printable(name), message));
    }

    ResourceGroup result_;
    std::map<std::string, int, std::less<>> seen_;  // by name: its line
    std::set<std::string, std::less<>> left_out_;
    int number_ = 0;
};

}  // namespace

std::string ShareGroup::element() const {
    return fmt::format("{}:{}={}", name, parent, shares);
}

ResourceGroup parse_resource_group(std::string_view text, const std::string& file) {
    ResourceGroupReader reader(file);
    for_each_line(text, [&](std::string_view line, int number) { reader.read_line(line, number); });
    return reader.finish();
}

}  // namespace pbs::migrate

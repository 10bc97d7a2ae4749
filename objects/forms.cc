#include "objects/forms.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "objects/quota_rule.h"
#include "objects/site_names.h"
#include "objects/value.h"
#include "values/amount.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::objects {
namespace {

tl::unexpected<std::string> wrong(std::string remark = {}) {
    return tl::unexpected<std::string>(std::move(remark));
}

bool made_of(std::string_view text, std::string_view others) {
    return !text.empty() && std::ranges::all_of(text, [&](char c) {
        return values::is_letter(c) || values::is_digit(c) || others.find(c) != std::string_view::npos;
    });
}

// Accepts a text on one line: a control character would break accounting and log files.
Form text_form(std::string_view text) {
    if (control_character(text) != std::string_view::npos) return wrong("it has a control character");
    return std::string(text);
}

// Reads a recurrence. It may have a line for each property: line ends become blanks.
Form rrule_form(std::string_view text) {
    std::string line(text);
    std::ranges::replace_if(
        line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    const std::string_view rule = values::trim(line);
    if (rule.empty()) return wrong("it is empty");
    return text_form(rule);
}

Form word_form(const Attribute& attribute, std::string_view text) {
    for (std::string_view word : attribute.words) {
        if (values::same_word(word, text)) return std::string(word);
    }
    return wrong();
}

Form pathname_form(std::string_view text) {
    if (text.empty() || text.find_first_of(" \t") != std::string_view::npos)
        return wrong("blanks aren't allowed in it");
    return text_form(text);
}

Form program_form(std::string_view text) {
    if (!text.starts_with('/')) return wrong("the path isn't absolute");
    return pathname_form(text);
}

Form queue_form(std::string_view text) {
    const std::size_t at = text.find('@');
    if (!is_queue_name(text.substr(0, at))) {
        return wrong("a queue's name is a letter or digit, then up to 14 letters, digits, '-', '_' or '.'");
    }
    if (at != std::string_view::npos && !is_host_name(text.substr(at + 1)))
        return wrong("after @ comes a host name");
    return std::string(text);
}

Form name_form(std::string_view text) {
    if (Result<void> name = check_name("name", text); !name) return wrong(name.error().message);
    return std::string(text);
}

// Reads an order such as "SCR 70 SC 30 S": methods of preemption, then pairs of a percentage and the methods
// to use below it. Percentages fall. Behind the last percentage the methods may be missing, as in PP-748's
// own example "SCR 70 SC 30": the methods before it then stay in use. No letter may come twice among the
// methods of one pair.
Form preempt_order_form(std::string_view text) {
    const std::vector<std::string_view> words = values::words(text);
    if (words.empty()) return wrong();
    std::vector<std::string> canonical;
    int below = 100;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (i % 2 == 1) {
            const auto percent = values::digits<int>(words[i]);
            if (!percent || *percent >= below)
                return wrong(fmt::format("'{}' isn't a whole number from 0 to {}", words[i], below - 1));
            below = *percent;
            canonical.push_back(std::to_string(below));
            continue;
        }
        const std::string order = values::uppered(words[i]);
        const std::set<char> letters(order.begin(), order.end());
        if (order.find_first_not_of("SCRD") != std::string::npos || letters.size() != order.size()) {
            return wrong(
                fmt::format("'{}' isn't an order of different letters out of S, C, R and D", words[i]));
        }
        canonical.push_back(order);
    }
    return fmt::format("{}", fmt::join(canonical, " "));
}

Form preempt_level(std::string_view text) {
    static constexpr std::string_view kLevels[] = {"starving_jobs",    "express_queue",     "fairshare",
                                                   "queue_softlimits", "server_softlimits", "normal_jobs"};
    std::vector<std::string_view> canonical;
    for (std::string_view part : values::split_trimmed(text, '+')) {
        const auto* level =
            std::ranges::find_if(kLevels, [&](std::string_view l) { return values::same_word(l, part); });
        if (level == std::end(kLevels)) return wrong(fmt::format("'{}' is no preemption level", part));
        if (std::ranges::find(canonical, *level) != canonical.end())
            return wrong(fmt::format("'{}' is there twice", part));
        canonical.push_back(*level);
    }
    return fmt::format("{}", fmt::join(canonical, "+"));
}

// Reads levels of preemption, and refuses a level that occurs twice; a+b and b+a are the same level.
Form preempt_prio_form(std::string_view text) {
    std::vector<std::string> canonical;
    std::set<std::set<std::string_view>> seen;
    for (std::string_view part : values::split_trimmed(text, ',')) {
        Form level = preempt_level(part);
        if (!level) return level;
        canonical.push_back(*level);
    }
    for (const std::string& level : canonical) {
        const std::vector<std::string_view> parts = values::split_trimmed(level, '+');
        if (!seen.insert({parts.begin(), parts.end()}).second)
            return wrong(fmt::format("'{}' is there twice", level));
    }
    return fmt::format("{}", fmt::join(canonical, ", "));
}

// Reads a sort key such as "ncpus HIGH". A key for vnodes may also name the amount that counts.
Form sort_key_form(std::string_view text, bool for_nodes) {
    const std::vector<std::string_view> words = values::words(text);
    if (words.size() < 2 || words.size() > (for_nodes ? 3U : 2U)) return wrong();
    if (!is_resource_name(words[0])) return wrong(fmt::format("'{}' is no name of a resource", words[0]));
    if (!values::same_word(words[1], "HIGH") && !values::same_word(words[1], "LOW")) {
        return wrong(fmt::format("'{}' is neither HIGH nor LOW", words[1]));
    }
    std::string canonical = fmt::format("{} {}", words[0], values::uppered(words[1]));
    if (words.size() == 2) return canonical;
    static constexpr std::string_view kAmounts[] = {"total", "assigned", "unused"};
    const std::string amount = values::lowered(words[2]);
    if (std::ranges::find(kAmounts, amount) == std::end(kAmounts)) {
        return wrong(fmt::format("'{}' is none of total, assigned and unused", words[2]));
    }
    if (words[0] == "sort_priority" || words[0] == "load_formula")
        return wrong(fmt::format("{} has no amounts", words[0]));
    return canonical + " " + amount;
}

// Reads "place: key + key".
Form place_sort_key_form(const Attribute& attribute, std::string_view text) {
    const std::size_t colon = std::min(text.find(':'), text.size());
    const std::string_view place = values::trim(text.substr(0, colon));
    if (std::ranges::find(attribute.words, place) == attribute.words.end())
        return wrong(fmt::format("'{}' is none of {}", place, fmt::join(attribute.words, ", ")));
    if (colon == text.size()) return wrong(fmt::format("there is no : behind '{}'", place));
    std::vector<std::string> keys;
    for (const std::string_view part : values::split(text.substr(colon + 1), '+')) {
        const Form key = sort_key_form(part, true);
        if (!key) return key;
        keys.push_back(*key);
    }
    return fmt::format("{}: {}", place, fmt::join(keys, " + "));
}

// Reads "name=weight". `canonical` returns the name as it is stored.
template <class Canonical>
Form weight_form(std::string_view text, Canonical canonical) {
    constexpr double kMostWeight = 9e15;  // sums of some such weights are exact
    const std::size_t equals = text.rfind('=');
    if (equals == std::string_view::npos) return wrong("there is no = before the number");
    const Form name = canonical(values::trim(text.substr(0, equals)));
    if (!name) return name;
    const std::string_view number = values::trim(text.substr(equals + 1));
    const auto weight = values::parse_real(number);
    if (!weight || *weight < 0 || *weight > kMostWeight)
        return wrong(fmt::format("'{}' is no number from 0 to {}", number, kMostWeight));
    return fmt::format("{}={}", *name, values::real_text(*weight));
}

Form resource_weight_form(std::string_view text) {
    return weight_form(text, [](std::string_view name) -> Form {
        if (is_resource_name(name)) return std::string(name);
        return wrong(fmt::format("'{}' is no name of a resource", name));
    });
}

// Reads "[queue:]name OP number".
Form load_threshold_form(std::string_view text) {
    const std::size_t sign = std::min(text.find_first_of("<>="), text.size());
    std::string_view number = text.substr(sign);
    const auto how = values::take_comparison(number);
    if (!how || how == values::Comparison::equal)
        return wrong("there is none of >=, >, <= and < before the number");
    const std::string_view whole = values::trim(text.substr(0, sign));
    const std::size_t colon = whole.find(':');
    const bool any_queue = colon == std::string_view::npos;
    const std::string_view queue = any_queue ? "" : values::trim(whole.substr(0, colon));
    if (!any_queue && !is_queue_name(queue)) return wrong(fmt::format("'{}' is no name of a queue", queue));
    const std::string_view name = any_queue ? whole : values::trim(whole.substr(colon + 1));
    if (!is_resource_name(name)) return wrong(fmt::format("'{}' is no name of a load or a resource", name));
    number = values::trim(number);
    const auto value = values::parse_real(number);
    if (!value) return wrong(fmt::format("'{}' is no number", number));
    return fmt::format("{}{}{} {} {}", queue, any_queue ? "" : ":", name, values::sign_of(*how),
                       values::real_text(*value));
}

Form word_weight_form(const Attribute& attribute, std::string_view text) {
    return weight_form(text, [&](std::string_view name) -> Form {
        if (std::ranges::find(attribute.words, name) != attribute.words.end()) return std::string(name);
        return wrong(fmt::format("'{}' is none of {}", name, fmt::join(attribute.words, ", ")));
    });
}

Form peer_queue_form(std::string_view text) {
    const std::vector<std::string_view> words = values::words(text);
    if (words.size() != 2) return wrong();
    if (!is_queue_name(words[0])) return wrong(fmt::format("'{}' is no queue", words[0]));
    const std::size_t at = words[1].find('@');
    if (at == std::string_view::npos || !is_queue_name(words[1].substr(0, at))) {
        return wrong(fmt::format("'{}' isn't queue@server", words[1]));
    }
    std::string_view server = words[1].substr(at + 1);
    const std::size_t colon = server.find(':');
    if (colon != std::string_view::npos) {
        const std::string_view digits = server.substr(colon + 1);
        if (values::digits<std::uint16_t>(digits).value_or(0) == 0)
            return wrong(fmt::format("'{}' is no port", digits));
        server = server.substr(0, colon);
    }
    if (!is_host_name(server)) return wrong(fmt::format("'{}' is no server", server));
    return fmt::format("{} {}", words[0], words[1]);
}

// Reads "mem !/bin/get_mem arguments".
Form dynamic_resource_form(std::string_view text) {
    const std::size_t mark = text.find('!');
    if (mark == std::string_view::npos) return wrong("there is no ! before the program");
    const std::string_view resource = values::trim(text.substr(0, mark));
    const std::string_view command = values::trim(text.substr(mark + 1));
    if (!is_resource_name(resource)) return wrong(fmt::format("'{}' is no name of a resource", resource));
    if (!command.starts_with('/')) return wrong("the program's path isn't absolute");
    Form checked = text_form(command);
    if (!checked) return checked;
    return fmt::format("{} !{}", resource, *checked);
}

// Returns whether an element of a fairshare tree may have this name: the name of a user, group, account or
// queue, or egroup:euser.
bool is_entity_name(std::string_view text) {
    return made_of(text, "-_.:+@$") && text.size() <= 255 && text.front() != ':' && text.back() != ':';
}

// Reads "[u:ann=100]", in which blanks may stand between the parts.
Form entity_weight_form(std::string_view text) {
    text = values::trim(text);
    if (!text.starts_with('[') || !text.ends_with(']')) return wrong("there are no [ and ] around it");
    const Form inner = weight_form(text.substr(1, text.size() - 2), [](std::string_view name) -> Form {
        const std::size_t colon = std::min(name.find(':'), name.size());
        const std::string_view kind = values::trim(name.substr(0, colon));
        const std::string_view entity = values::trim(name.substr(std::min(colon + 1, name.size())));
        if (kind.size() != 1 || kOwnerLetters.find(kind) == std::string_view::npos || colon == name.size())
            return wrong(fmt::format("'{}' doesn't begin with u:, g:, p: or q:", name));
        if (!is_entity_name(entity) || entity.find(':') != std::string_view::npos)
            return wrong(fmt::format("'{}' is no name", entity));
        return fmt::format("{}:{}", kind, entity);
    });
    return inner ? Form(fmt::format("[{}]", *inner)) : inner;
}

// Reads an element of a tree such as "group01:root = 30". In PP-748's example there are brackets around the
// whole value: value.cc removes them.
Form tree_element_form(std::string_view text) {
    const std::size_t equals = text.rfind('=');
    if (equals == std::string_view::npos) return wrong("there is no = before the shares");
    const std::string_view names = values::trim(text.substr(0, equals));
    const std::string_view shares = values::trim(text.substr(equals + 1));
    const std::size_t colon = names.rfind(':');
    if (colon == std::string_view::npos) return wrong("there is no : before the parent");
    const std::string_view name = values::trim(names.substr(0, colon));
    const std::string_view parent = values::trim(names.substr(colon + 1));
    if (!is_entity_name(name) || name == "root")
        return wrong(fmt::format("'{}' is no name for an element", name));
    if (!is_entity_name(parent)) return wrong(fmt::format("'{}' is no name of a parent", parent));
    const auto count = values::digits<std::int32_t>(shares);
    if (!count) return wrong(fmt::format("'{}' is no number of shares (0 or more)", shares));
    return fmt::format("{}:{}={}", name, parent, *count);
}

Form policy_slot_form(std::string_view text) {
    std::string_view prefix;
    std::string_view name = text;
    if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
        prefix = text.substr(0, colon + 1);
        name = values::trim(text.substr(colon + 1));
        if (prefix != "p:" && prefix != "np:")
            return wrong(fmt::format("'{}' is neither p: nor np:", prefix));
    }
    Form checked = name_form(name);
    if (!checked) return checked;
    return fmt::format("{}{}", prefix, *checked);
}

Form resource_form(std::string_view text) {
    if (!is_resource_name(text)) return wrong(fmt::format("'{}' is no name of a resource", text));
    return std::string(text);
}

Form host_form(std::string_view text) {
    if (!is_host_name(text)) return wrong();
    return std::string(text);
}

}  // namespace

std::size_t control_character(std::string_view text) {
    const auto found =
        std::ranges::find_if(text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
    return found == text.end() ? std::string_view::npos : static_cast<std::size_t>(found - text.begin());
}

bool is_queue_name(std::string_view text) {
    return made_of(text, "-_.") && text.size() <= 15 &&
           (values::is_letter(text.front()) || values::is_digit(text.front()));
}

bool is_resource_name(std::string_view text) {
    return made_of(text, "-_") && text.size() <= 64 && values::is_letter(text.front());
}

bool is_host_name(std::string_view text) {
    return made_of(text, "-_.") && text.size() <= 255 && text.front() != '-' && text.front() != '.';
}

OwnerElement owner_element(std::string_view element) {
    const std::size_t equals = element.rfind('=');
    return {element[1], element.substr(3, equals - 3),
            element.substr(equals + 1, element.size() - equals - 2)};
}

PlaceElement place_element(std::string_view element) {
    const std::size_t colon = element.find(':');
    const auto keys = values::split_trimmed(element.substr(colon + 1), '+');
    return {element.substr(0, colon), {keys.begin(), keys.end()}};
}

LoadElement load_element(std::string_view element) {
    const std::size_t colon = element.find(':');
    const std::size_t name = colon == std::string_view::npos ? 0 : colon + 1;
    const std::size_t blank = element.find(' ');
    std::string_view rest = element.substr(blank + 1);
    const auto how = values::take_comparison(rest);
    return {element.substr(0, colon == std::string_view::npos ? 0 : colon),
            element.substr(name, blank - name), how.value_or(values::Comparison::at_least), rest.substr(1)};
}

TreeElement tree_element(std::string_view element) {
    const std::size_t equals = element.rfind('=');
    const std::size_t colon = element.rfind(':', equals);
    return {element.substr(0, colon), element.substr(colon + 1, equals - colon - 1),
            element.substr(equals + 1)};
}

namespace {

// Reads the name of a user, or of a group behind @.
Form member_form(std::string_view text) {
    const std::string_view name = text.substr(text.starts_with('@') ? 1 : 0);
    if (!is_entity_name(name) || name.find_first_of(":@") != std::string_view::npos)
        return wrong(fmt::format("'{}' is no name of a user or group", name));
    return std::string(text);
}

Form quota_rule_form(std::string_view text) {
    const auto rule = parse_quota_rule(text);
    if (!rule) return tl::unexpected(rule.error());
    return fmt::format("{}: {}", rule->name, rule->text());
}

}  // namespace

Form canonical_string(const Attribute& attribute, std::string_view text) {
    switch (attribute.syntax) {
        case Syntax::text:
            return text_form(text);
        case Syntax::word:
            return word_form(attribute, values::trim(text));
        case Syntax::pathname:
        // Accept paths too: a database may have one, and check.cc refuses to set one.
        case Syntax::output_file:
            return pathname_form(values::trim(text));
        case Syntax::program:
            return program_form(values::trim(text));
        case Syntax::host:
            return host_form(values::trim(text));
        case Syntax::formula:
            return text_form(values::trim(text));
        case Syntax::rrule:
        case Syntax::rrule_list:
            return rrule_form(text);
        case Syntax::preempt_order:
            return preempt_order_form(text);
        case Syntax::preempt_prio:
            return preempt_prio_form(text);
        case Syntax::queue:
        case Syntax::queue_list:
            return queue_form(values::trim(text));
        case Syntax::quota_rules:
            return quota_rule_form(text);
        case Syntax::object_name:
        case Syntax::object_names:
            return name_form(values::trim(text));
        case Syntax::names:
            return site_names(attribute) == SiteNames::members ? member_form(values::trim(text))
                                                               : name_form(values::trim(text));
        case Syntax::resource_list:
            return resource_form(values::trim(text));
        case Syntax::node_sort_keys:
            return sort_key_form(text, true);
        case Syntax::place_sort_keys:
            return place_sort_key_form(attribute, text);
        case Syntax::job_sort_keys:
            return sort_key_form(text, false);
        case Syntax::resource_weights:
        case Syntax::load_weights:
            return resource_weight_form(text);
        case Syntax::load_thresholds:
            return load_threshold_form(values::trim(text));
        case Syntax::word_weights:
            return word_weight_form(attribute, text);
        case Syntax::entity_weights:
            return entity_weight_form(text);
        case Syntax::peer_queues:
            return peer_queue_form(text);
        case Syntax::dynamic_resources:
            return dynamic_resource_form(values::trim(text));
        case Syntax::tree_elements:
            return tree_element_form(text);
        case Syntax::policy_slots:
            return policy_slot_form(values::trim(text));
        case Syntax::boolean:
        case Syntax::boolean_or_date:
        case Syntax::integer:
        case Syntax::percentage:
        case Syntax::real:
        case Syntax::size:
        case Syntax::duration:
        case Syntax::time_of_day:
        case Syntax::variance:
            break;
    }
    return std::string(text);
}

}  // namespace pbs::objects

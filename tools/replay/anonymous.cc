#include "tools/replay/anonymous.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "objects/quota_rule.h"
#include "objects/site_names.h"
#include "objects/value.h"
#include "rrule/non_work_days.h"
#include "text/json.h"
#include "text/json_document.h"
#include "tools/replay/names.h"
#include "tools/replay/replay.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::replay {
namespace {

using Json = nlohmann::ordered_json;
using objects::ObjectType;
using objects::QuotaSubject;
using objects::SiteNames;

// The name for each owner without a number of their own.
constexpr std::string_view kEverybody = "PBS_GENERIC";
// A pattern that no name of a record without names matches: these have more than one character.
constexpr const char* kNobody = "?";

// Replaces names in a record in two passes: the first one collects the names, the second one replaces them.
class Renaming {
  public:
    void number() {
        for (Names* names :
             {&users_, &groups_, &projects_, &queues_, &labels_, &domains_, &paths_, &accounts_, &entities_})
            names->number();
        replacing_ = true;
    }

    void line(const std::string& key, Json& value) {
        if (key == "server")
            host(value, "name"), host(value, "host"), limits(value);
        else if (key == "queue")
            queue_line(value);
        else if (key == "vnode")
            vnode_line(value);
        else if (key == "reservation")
            each(value, "id", &Renaming::job_id), amounts(value, "requested");
        else if (key == "job")
            job_line(value);
        else if (key == "past_usage")
            past_usage_line(value);
        else if (key == "fair_share")
            fair_share_line(value);
        else if (key == "allocations")
            allocations_line(value);
        else if (key == "outages")
            outages_line(value);
        else if (key == "told")
            each(value, "element", &Renaming::told_by);
        else if (key == "object")
            object_line(value);
        else if (key == "sched_config")
            for (const char* slot : {"all_time", "prime", "non_prime"}) {
                if (value.contains(slot)) attributes(value[slot], ObjectType::policy);
            }
        else
            decision_line(value);
    }

  private:
    using Rename = std::string (Renaming::*)(std::string_view);

    static std::string bytes(const Json& json) {
        return text::from_json(text::parse_json(text::write_json(json))).value_or(std::string());
    }
    static Json json(std::string_view text) {
        std::string out;
        text::append_json(out, text);
        return text::parse_ordered_json(out);
    }
    void each(Json& object, std::string_view key, Rename rename) {
        if (!object.is_object()) return;
        const auto found = object.find(key);
        if (found != object.end()) *found = json((this->*rename)(bytes(*found)));
    }
    void host(Json& o, std::string_view key) { each(o, key, &Renaming::host_name); }

    std::string renamed(Names& names, std::string_view name) {
        if (!replacing_) names.see(name);
        const std::string* other = names.find(name);
        return other != nullptr ? *other : std::string(name);
    }
    std::string user_name(std::string_view name) {
        const std::size_t at = name.find('@');
        if (at == std::string_view::npos) return renamed(users_, name);
        return renamed(users_, name.substr(0, at)) + '@' + host_name(name.substr(at + 1));
    }
    std::string account_name(std::string_view name) { return renamed(accounts_, name); }
    std::string group_name(std::string_view name) { return renamed(groups_, name); }
    std::string project_name(std::string_view name) { return renamed(projects_, name); }
    std::string queue_name(std::string_view name) { return renamed(queues_, name); }
    // Replaces a host's name. The part before the first dot and the domain are replaced each by itself, in
    // any case of letters, because a host without a domain is compared without domains.
    std::string host_name(std::string_view name) {
        const std::string lower = values::lowered(name);
        const std::size_t dot = lower.find('.');
        if (dot == std::string::npos) return renamed(labels_, lower);
        return renamed(labels_, std::string_view(lower).substr(0, dot)) + '.' +
               renamed(domains_, std::string_view(lower).substr(dot + 1));
    }
    // Replaces the path in "resource !/path/of/program arguments".
    std::string told_by(std::string_view element) {
        const auto program = std::min(element.find('!'), element.size() - 1) + 1;
        return std::string(element.substr(0, program)) + path_name(element.substr(program));
    }
    std::string path_name(std::string_view path) {
        const std::string other = renamed(paths_, path);
        return replacing_ && path.starts_with('/') ? "/anonymous/" + other : other;
    }
    // Replaces the host in a job's id: 12.server, 12[3].server.
    std::string job_id(std::string_view id) {
        const std::size_t dot = id.find('.');
        if (dot == std::string_view::npos) return std::string(id);
        return std::string(id.substr(0, dot + 1)) + host_name(id.substr(dot + 1));
    }
    // Replaces the names in an element of acl_users: user or user@host, with * or a sign.
    std::string acl_name(std::string_view name) {
        const bool sign = name.starts_with('+') || name.starts_with('-');
        const std::string_view bare = sign ? name.substr(1) : name;
        if (bare.find('*') != std::string_view::npos) {
            const std::size_t at = bare.find('@');
            if (at == std::string_view::npos || bare.substr(0, at).find('*') != std::string_view::npos)
                return std::string(name);
            return fmt::format("{}{}@{}", sign ? name.substr(0, 1) : "", user_name(bare.substr(0, at)),
                               bare.substr(at + 1));
        }
        return fmt::format("{}{}", sign ? name.substr(0, 1) : "", user_name(bare));
    }
    // Replaces the names in a list of queues: queue or queue@host, separated by commas.
    std::string queue_specs(std::string_view text) {
        std::string out;
        bool of_host = false;
        const auto word = [&](std::string_view name) { out += of_host ? host_name(name) : queue_name(name); };
        const auto between = [&](std::string_view marks) {
            of_host = marks.find('@') != std::string_view::npos;
            out += marks;
        };
        each_word(text, ".", word, between);
        return out;
    }
    // Replaces hosts and vnodes in a select: 2:ncpus=1:host=n1+1:vnode=n2.
    std::string select_text(std::string_view text) {
        std::string out;
        std::string_view resource;
        const auto word = [&](std::string_view name) {
            const bool of_host = out.ends_with('=') && (resource == "host" || resource == "vnode");
            out += of_host ? host_name(name) : std::string(name);
            resource = name;
        };
        each_word(text, ".", word, [&](std::string_view marks) { out += marks; });
        return out;
    }
    // Replaces the names in an element of a fairshare tree, "group01:root = 30". A user, group or queue gets
    // the same name as elsewhere in the record.
    std::string tree_element(std::string_view text) {
        std::string out;
        const auto word = [&](std::string_view name) {
            if (name == "root" || out.find('=') != std::string::npos)
                out += name;
            else if (!replacing_)
                entities_.see(name);
            else
                out += any_name(name);
        };
        each_word(text, ".", word, [&](std::string_view marks) { out += marks; });
        return out;
    }
    // Replaces the names in "queue queue@host:port".
    std::string peer_queue(std::string_view text) {
        const std::size_t at = std::min(text.find('@'), text.size() - 1) + 1;
        const std::size_t colon = std::min(text.find(':', at), text.size());
        return queue_specs(text.substr(0, at)) + host_name(text.substr(at, colon - at)) +
               std::string(text.substr(colon));
    }
    // Replaces the queue in "queue:load >= number".
    std::string load_threshold(std::string_view text) {
        const std::size_t colon = text.find(':');
        if (colon == std::string_view::npos) return std::string(text);
        return queue_name(text.substr(0, colon)) + std::string(text.substr(colon));
    }
    // Replaces a user, or a group in "@group".
    std::string member(std::string_view name) {
        return name.starts_with('@') ? '@' + group_name(name.substr(1)) : user_name(name);
    }
    // Replaces the name in "[u:user=weight]".
    std::string owner(std::string_view text) {
        const objects::OwnerElement element = objects::owner_element(text);
        const std::string name = element.name == kEverybody ? std::string(element.name)
                                 : element.letter == 'u'    ? user_name(element.name)
                                 : element.letter == 'g'    ? group_name(element.name)
                                 : element.letter == 'p'    ? project_name(element.name)
                                                            : queue_name(element.name);
        return fmt::format("[{}:{}={}]", element.letter, name, element.weight);
    }
    // Replaces the names in a rule of a quota.
    std::string quota_rule(std::string_view text) {
        auto rule = objects::parse_quota_rule(text);
        if (!rule) return std::string(text);
        for (std::size_t i = 0; i < rule->filters.size(); ++i) {
            if (!rule->filters[i]) continue;
            for (std::vector<std::string>* list : {&rule->filters[i]->among, &rule->filters[i]->except}) {
                std::vector<std::string> others;
                for (const std::string& pattern : *list) {
                    auto names = of_pattern(static_cast<QuotaSubject>(i), pattern);
                    others.insert(others.end(), names.begin(), names.end());
                }
                *list = std::move(others);
            }
        }
        for (objects::QuotaLimit& limit : rule->limits)
            if (limit.resource == "host" || limit.resource == "vnode") limit.most = host_name(limit.most);
        return fmt::format("{}: {}", rule->name, rule->text());
    }
    // Returns what stands for a pattern in a rule of a quota: the names in the record that match it. If there
    // are none, nothing in the record matches it, and a pattern without a match stands for it.
    std::vector<std::string> of_pattern(QuotaSubject subject, const std::string& pattern) {
        const auto each = [&](std::string_view prefix, std::string_view own, const auto& known,
                              Rename rename) {
            std::vector<std::string> names;
            const auto add = [&](std::string_view name) {
                names.push_back(fmt::format("{}{}", prefix, (this->*rename)(name)));
            };
            if (own == "*" || own == kNobody) return std::vector{pattern};
            if (!objects::is_pattern(own)) {
                add(own);
                return names;
            }
            for (const std::string& name : known)
                if (replacing_ && objects::matches_pattern(std::string(own), name)) add(name);
            if (names.empty()) names.push_back(fmt::format("{}{}", prefix, kNobody));
            return names;
        };
        switch (subject) {
            case QuotaSubject::users:
                if (pattern.starts_with('@'))
                    return each("@", std::string_view(pattern).substr(1), groups_.seen(),
                                &Renaming::group_name);
                return each("", pattern, users_.seen(), &Renaming::user_name);
            case QuotaSubject::groups:
                return each("", pattern, groups_.seen(), &Renaming::group_name);
            case QuotaSubject::projects:
                return each("", pattern, projects_.seen(), &Renaming::project_name);
            case QuotaSubject::queues:
                return each("", pattern, queues_.seen(), &Renaming::queue_name);
            case QuotaSubject::vnodes: {
                const auto [resource, own] = objects::vnode_pattern(pattern);
                if (resource.empty()) return each("", own, vnodes_, &Renaming::host_name);
                if (resource == "host") return each("host:", own, hosts_, &Renaming::host_name);
                if (resource == "vnode") return each("vnode:", own, vnodes_, &Renaming::host_name);
                break;
            }
            case QuotaSubject::shapes:
                break;
        }
        return {pattern};
    }
    // Replaces hosts, vnodes and queues in preferences: host=n1+queue!=fast. No single name stands for a
    // pattern.
    std::string preferences(std::string_view text) {
        std::vector<std::string> all;
        for (const std::string_view one : values::split(text, '+')) {
            const std::size_t sign = std::min(one.find_first_of("!<>="), one.size());
            const std::size_t begin = std::min(one.find_first_not_of("!<>=", sign), one.size());
            const std::string_view name = one.substr(0, sign);
            const std::string_view value = one.substr(begin);
            const bool is_queue = name == "queue";
            const bool has_name = (is_queue || name == "host" || name == "vnode") && !value.empty();
            const std::string other = !has_name || value == "*"    ? std::string(value)
                                      : objects::is_pattern(value) ? kNobody
                                      : is_queue                   ? queue_name(value)
                                                                   : host_name(value);
            all.push_back(fmt::format("{}{}", one.substr(0, begin), other));
        }
        return fmt::format("{}", fmt::join(all, "+"));
    }
    // Removes the name of days, which is a remark.
    std::string nameless_days(std::string_view entry) {
        auto days = rrule::NamedDays::split(entry);
        days.name.clear();
        return days.entry();
    }
    // Replaces the name of an entity in a fairshare tree or outside it: a user, a group, "group:user".
    std::string entity_name(std::string_view text) {
        if (text == "root" || text == "unknown") return std::string(text);
        return tree_element(text);
    }
    std::string any_name(std::string_view name) const {
        for (const Names* names : {&users_, &groups_, &projects_, &queues_, &labels_, &accounts_, &entities_})
            if (const std::string* other = names->find(name)) return *other;
        return std::string(name);
    }
    // Replaces known names in a text for people.
    std::string words(std::string_view text) {
        std::string out;
        const auto word = [&](std::string_view name) {
            const bool id =
                !name.empty() && values::is_digit(name.front()) && name.find('.') != std::string_view::npos;
            out += id ? job_id(name) : any_name(name);
        };
        if (replacing_) each_word(text, ".", word, [&](std::string_view marks) { out += marks; });
        return out;
    }
    static std::string nothing(std::string_view) { return {}; }

    void amounts(Json& object, std::string_view key) {
        const auto found = object.find(key);
        if (found == object.end() || !found->is_array()) return;
        for (Json& amount : *found) {
            if (!amount.is_array() || amount.size() < 2 || !amount.front().is_string()) continue;
            const std::string resource = amount.front().get<std::string>();
            Json& value = amount.back();
            if (value.is_number()) continue;
            if (resource == "host" || resource == "vnode") value = json(host_name(bytes(value)));
            if (resource == "select") value = json(select_text(bytes(value)));
            if (resource == "prefer") value = json(preferences(bytes(value)));
        }
    }
    void all(Json& object, std::string_view key, Rename rename) {
        const auto found = object.find(key);
        if (found == object.end() || !found->is_array()) return;
        for (Json& element : *found) element = json((this->*rename)(bytes(element)));
    }
    void vnode_line(Json& vnode) {
        if (!replacing_) {
            for (const char* key : {"name", "host"})
                if (vnode.contains(key)) (key[0] == 'n' ? vnodes_ : hosts_).insert(bytes(vnode[key]));
            if (const auto has = vnode.find("resources_available"); has != vnode.end() && has->is_array())
                for (const Json& amount : *has)
                    if (amount.is_array() && amount.size() > 1 && amount.front() == "host")
                        hosts_.insert(bytes(amount.back()));
        }
        host(vnode, "name"), host(vnode, "host"), amounts(vnode, "resources_available");
    }
    void queue_line(Json& queue) {
        each(queue, "name", &Renaming::queue_name);
        all(queue, "acl_users", &Renaming::acl_name);
        limits(queue);
    }
    void limits(Json& of) {
        if (!of.contains("limits")) return;
        for (Json& limit : of["limits"]) {
            const std::string whom = bytes(limit.value("of", Json("all")));
            each(limit, "name",
                 whom == "user"    ? &Renaming::user_name
                 : whom == "group" ? &Renaming::group_name
                                   : &Renaming::project_name);
        }
    }
    void job_line(Json& job) {
        each(job, "id", &Renaming::job_id);
        each(job, "owner", &Renaming::user_name);
        each(job, "group", &Renaming::group_name);
        each(job, "project", &Renaming::project_name);
        each(job, "origin_queue", &Renaming::queue_name);
        host(job, "run_host");
        each(job, "account", &Renaming::account_name);
        amounts(job, "requested");
        amounts(job, "used");
    }
    void past_usage_line(Json& usage) {
        if (const auto users = usage.find("users"); users != usage.end())
            for (Json& row : *users) {
                each(row, "user", &Renaming::user_name);
                each(row, "group", &Renaming::group_name);
            }
        all(usage, "charged", &Renaming::job_id);
    }
    void fair_share_line(Json& usage) {
        if (const auto entities = usage.find("entities"); entities != usage.end())
            for (Json& row : *entities) each(row, "user", &Renaming::entity_name);
        if (const auto charges = usage.find("charges"); charges != usage.end())
            for (Json& row : *charges) each(row, "job", &Renaming::job_id);
    }
    void keys(Json& object, std::string_view key, Rename rename) {
        const auto found = object.find(key);
        if (found == object.end() || !found->is_object()) return;
        if (!replacing_) {
            for (const auto& [name, value] : found->items()) (void)(this->*rename)(decoded(name));
            return;
        }
        Json renamed = Json::object();
        // Decode keys: bytes that a key can't contain are written as %e9 and the like.
        for (const auto& [name, value] : found->items()) renamed[(this->*rename)(decoded(name))] = value;
        *found = std::move(renamed);
    }
    static std::string decoded(std::string_view key) {
        std::string out;
        for (std::size_t i = 0; i < key.size(); ++i) {
            const bool escape = key[i] == '%' && i + 2 < key.size();
            const auto byte = escape ? values::number<unsigned char>(key.substr(i + 1, 2), 16) : std::nullopt;
            out += byte ? static_cast<char>(*byte) : key[i];
            if (byte) i += 2;
        }
        return out;
    }
    void allocations_line(Json& allocations) {
        each(allocations, "dir", &Renaming::path_name);
        for (const char* key : {"allocated", "used", "charged"})
            keys(allocations, key, &Renaming::group_name);
        keys(allocations, "charges", &Renaming::job_id);
        if (const auto charges = allocations.find("charges"); charges != allocations.end())
            for (auto& [job, charge] : charges->items()) each(charge, "group", &Renaming::group_name);
    }
    void outages_line(Json& outages) {
        each(outages, "command", &Renaming::path_name);
        host(outages, "name");
        if (const auto list = outages.find("outages"); list != outages.end() && list->is_array())
            for (Json& outage : *list) outage.erase("description");
    }
    void object_line(Json& object) {
        const std::string type = object.value("type", "");
        if (type == "queue") each(object, "name", &Renaming::queue_name);
        if (type == "server") host(object, "name");
        if (const auto known = objects::type_from_word(type)) attributes(object, *known);
    }
    void attributes(Json& object, ObjectType type) {
        const auto found = object.find("attributes");
        if (found == object.end() || !found->is_object()) return;
        for (auto value = found->begin(); value != found->end();) {
            const objects::Attribute* const attribute = objects::find_attribute(type, value.key());
            const SiteNames names =
                attribute != nullptr ? objects::site_names(*attribute) : SiteNames::remark;
            if (names == SiteNames::remark) {
                value = found->erase(value);
                continue;
            }
            if (const Rename rename = rename_of(names); rename == nullptr) {
            } else if (value->is_array()) {
                for (Json& element : *value) element = json((this->*rename)(bytes(element)));
            } else {
                *value = json((this->*rename)(bytes(*value)));
            }
            ++value;
        }
    }
    static Rename rename_of(SiteNames names) {
        switch (names) {
            case SiteNames::queues:
                return &Renaming::queue_specs;
            case SiteNames::peer_queues:
                return &Renaming::peer_queue;
            case SiteNames::load_queue:
                return &Renaming::load_threshold;
            case SiteNames::host:
                return &Renaming::host_name;
            case SiteNames::path:
                return &Renaming::path_name;
            case SiteNames::told_by:
                return &Renaming::told_by;
            case SiteNames::tree:
                return &Renaming::tree_element;
            case SiteNames::members:
                return &Renaming::member;
            case SiteNames::owner:
                return &Renaming::owner;
            case SiteNames::rule:
                return &Renaming::quota_rule;
            case SiteNames::days:
                return &Renaming::nameless_days;
            case SiteNames::nothing:
            case SiteNames::remark:
                break;
        }
        return nullptr;
    }
    void decision_line(Json& decision) {
        if (!decision.is_object()) return;
        each(decision, "job", &Renaming::job_id);
        each(decision, "reservation", &Renaming::job_id);
        each(decision, "for", &Renaming::job_id);
        each(decision, "queue", &Renaming::queue_name);
        each(decision, "path", &Renaming::path_name);
        each(decision, "text", &Renaming::words);
        amounts(decision, "set");
        const auto places = decision.find("places");
        if (places == decision.end()) return;
        for (Json& place : *places) {
            host(place, "vnode");
            amounts(place, "amounts");
        }
    }

    Names users_{"user"}, groups_{"group"}, queues_{"queue"}, labels_{"host"}, domains_{"domain"},
        paths_{"file"}, accounts_{"account"}, entities_{"entity"}, projects_{"project"};
    std::set<std::string> vnodes_;  // names as in the record
    std::set<std::string> hosts_;
    bool replacing_ = false;
};

// The two parts of a record: the lines up to "cycle", and the lines of the decisions.
struct Halves {
    std::string state;
    std::string decided;
};

Halves rewrite(std::string_view text, Renaming& renaming) {
    Halves halves;
    bool decided = false;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        const std::string_view line = text.substr(at, end - at);
        at = end + 1;
        if (line.empty()) continue;
        Json object = text::parse_ordered_json(line);
        const std::string key = object.begin().key();
        const bool kept = key == "pbspolicy_record" || key == "cycle" || key == "sched" ||
                          key == "resource" || key == "hpm" || key == "tick";
        if (!kept) renaming.line(key, object.begin().value());
        (decided ? halves.decided : halves.state) += text::write_json(object) + "\n";
        decided = decided || key == "cycle";
    }
    return halves;
}

// Returns the lines of decisions without their texts for people, in which names stand.
std::vector<std::string> bare(std::string_view decided) {
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < decided.size();) {
        const std::size_t end = std::min(decided.find('\n', at), decided.size());
        auto object = text::parse_json(decided.substr(at, end - at));
        at = end + 1;
        const std::string key = object.begin().key();
        if (key != "run" && key != "reject" && key != "comment" && key != "move") continue;
        object.begin().value().erase("text");
        lines.push_back(text::write_json(object));
    }
    return lines;
}

Halves renamed_halves(std::string_view text) {
    Renaming renaming;
    (void)rewrite(text, renaming);
    renaming.number();
    return rewrite(text, renaming);
}

}  // namespace

std::string without_names(std::string_view text) {
    const Halves renamed = renamed_halves(text);
    return renamed.state + renamed.decided;
}

Result<std::string> anonymous(std::string_view text, std::string_view name,
                              const std::optional<std::string>& time_zone) {
    const auto before = replay(text, name, time_zone);  // also checks that the text is a record
    if (!before) return tl::unexpected(before.error());
    const Halves renamed = renamed_halves(text);
    if (!before->differences.empty()) return renamed.state + renamed.decided;
    const auto now = decide_again(renamed.state + renamed.decided, name, time_zone);
    if (!now) return tl::unexpected(now.error());
    if (bare(*now) != bare(renamed.decided))
        return tl::unexpected(
            Error{fmt::format("{}: with other names other jobs start: it can't be made anonymous", name)});
    return renamed.state + *now;
}

}  // namespace pbs::replay

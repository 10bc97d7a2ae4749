#include "migrate/qmgr_print.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "ifl/attributes/entity_limits.h"
#include "ifl/cmds/host_attributes.h"
#include "ifl/cmds/qmgr_grammar.h"
#include "migrate/words.h"
#include "objects/value.h"
#include "values/text.h"

namespace pbs::migrate {
namespace {

using cmds::Operator;
using objects::CommandKind;
using objects::ObjectType;

constexpr std::string_view kHooks = "this server has no hooks: keep their files";
constexpr std::string_view kOwnObjects =
    "pbs_config export and import carry the policies of such a server over";

// An attribute of the older server, or of its scheduler `default`, that becomes an attribute of a policy.
struct Moved {
    ObjectType of;
    std::string_view printed;
    std::string_view attribute;
};
constexpr std::array kMoved = {
    Moved{ObjectType::server, "backfill_depth", "backfill_depth"},
    Moved{ObjectType::server, "job_sort_formula", "job_sort_formula"},
    Moved{ObjectType::sched, "do_not_span_psets", "do_not_span_psets"},
    Moved{ObjectType::sched, "only_explicit_psets", "only_explicit_psets"},
    Moved{ObjectType::sched, "job_sort_formula", "job_sort_formula"},
    Moved{ObjectType::sched, "job_sort_formula_threshold", "job_sort_formula_threshold"},
    Moved{ObjectType::sched, "log_events", "log_event"},
    Moved{ObjectType::sched, "preempt_order", "preempt_order"},
    Moved{ObjectType::sched, "preempt_prio", "preempt_prio"},
    Moved{ObjectType::sched, "preempt_queue_prio", "preempt_queue_prio"},
    Moved{ObjectType::sched, "preempt_sort", "preempt_sort"},
    Moved{ObjectType::sched, "sched_preempt_enforce_resumption", "sched_preempt_enforce_resumption"},
    Moved{ObjectType::sched, "server_dyn_res_alarm", "server_dyn_res_alarm"},
};

// Converts a type of qmgr's to the store's: both enumerations have the numbers of the batch protocol.
ObjectType type_of(cmds::ObjectType type) {
    return static_cast<ObjectType>(type);
}

// Returns the directive in qmgr's syntax, for the report.
std::string directive_text(const PrintedCommand& printed) {
    return objects::to_text(printed.command);
}

bool is_base64(std::string_view line) {
    return !line.empty() && std::ranges::all_of(line, [](char c) {
        return values::is_letter(c) || values::is_digit(c) || c == '+' || c == '/' || c == '=';
    });
}

// Returns whether the directive is about a hook, or a command that only hooks have (import, export).
bool is_about_hooks(std::string_view text) {
    const auto words = words_of(text, '\n');
    if (words.empty()) return false;
    const std::string_view command = words[0].text;
    if (command.size() > 1 &&
        (std::string_view("import").starts_with(command) || std::string_view("export").starts_with(command)))
        return true;
    if (words.size() < 2) return false;
    const std::string_view type = words[1].text;
    return std::string_view("hook").starts_with(type) ||
           (type.size() > 2 && std::string_view("pbshook").starts_with(type));
}

class QmgrPrintReader {
  public:
    explicit QmgrPrintReader(const std::string& file) { result_.file = file; }

    void read_line(std::string_view line, int number) {
        if (hook_contents_ && is_base64(values::trim(line))) return;
        hook_contents_ = false;
        if (!directives_.continues()) number_ = number;
        directives_.add_line(line);
        read_directives();
    }

    QmgrPrint finish() {
        directives_.end_of_input();
        read_directives();
        for (const auto& [name, found] : resources_) {
            (found.used_up ? result_.consumables : result_.others).push_back(name);
            if (found.type == "boolean" && found.of_vnodes) result_.vnode_booleans.push_back(name);
        }
        return std::move(result_);
    }

  private:
    void read_directives() {
        while (const auto text = directives_.next()) read(*text);
    }

    void read(const std::string& text) {
        if (is_about_hooks(text)) {
            hook_contents_ = text.ends_with(" -");
            return not_carried_over(text, kHooks);
        }
        const auto directive = cmds::parse_directive(text, cmds::is_attribute);
        if (!directive) {
            std::string message = directive.error().message;
            constexpr std::string_view kPrefix = "qmgr: ";
            if (message.starts_with(kPrefix)) message.erase(0, kPrefix.size());
            message.resize(std::min(message.find('\n'), message.size()));
            const int column = static_cast<int>(directive.error().offset.value_or(0)) + 1;
            result_.mistakes.push_back({result_.file, number_, column, "",
                                        fmt::format("{} in {}", printable(message), in_quotes(text)), false,
                                        "the directive is left out"});
            return;
        }
        switch (directive->command) {
            case cmds::Command::active:
                active_[directive->type] = names_of(*directive);
                return;
            case cmds::Command::create:
            case cmds::Command::remove:
            case cmds::Command::set:
            case cmds::Command::unset:
                break;
            default:  // show, list and other commands change nothing
                return;
        }
        if (values::is_own_type(directive->type)) return not_carried_over(text, kOwnObjects);
        const std::vector<std::string> names = names_of(*directive);
        if (names.empty())
            return not_carried_over(text, "it names no object, and none is active or printed before it");
        for (const std::string& name : names) read_object(*directive, name);
    }

    // Returns the names of the objects that a directive is about. Without names these are the active objects;
    // @default stands for every object created so far.
    std::vector<std::string> names_of(const cmds::Directive& directive) {
        if (directive.type == cmds::ObjectType::server) return {""};
        std::vector<std::string> names;
        for (const cmds::ObjectName& name : directive.names) {
            if (!name.name.empty()) {
                names.push_back(name.name);
            } else {
                const auto& all = made_[directive.type];
                names.insert(names.end(), all.begin(), all.end());
            }
        }
        if (!directive.names.empty()) return names;
        if (const auto active = active_.find(directive.type); active != active_.end()) return active->second;
        if (directive.type == cmds::ObjectType::sched) return {"default"};
        return {};
    }

    void read_object(const cmds::Directive& directive, const std::string& name) {
        const ObjectType type = type_of(directive.type);
        auto& made = made_[directive.type];
        if (directive.command == cmds::Command::remove) {
            std::erase(made, name);
            if (type == ObjectType::queue)
                std::erase_if(result_.queues, [&](auto& q) { return q.name == name; });
            if (type == ObjectType::resource) resources_.erase(name);
        } else {
            if (type != ObjectType::server && std::ranges::find(made, name) == made.end())
                made.push_back(name);
            if (type == ObjectType::queue && queue(name) == nullptr)
                result_.queues.push_back({name, false, {}, number_});
            if (type == ObjectType::resource) resources_.try_emplace(name);
        }
        if (directive.command == cmds::Command::create || directive.command == cmds::Command::remove) {
            const bool create = directive.command == cmds::Command::create;
            // Leave out the creation of the scheduler `default`, which exists on every server.
            if (type != ObjectType::sched || name != "default")
                result_.commands.push_back(
                    {{create ? CommandKind::create : CommandKind::remove, type, name, {}}, number_});
        }
        for (const cmds::Assignment& assignment : directive.attributes)
            read_assignment(directive, type, name, assignment);
    }

    void read_assignment(const cmds::Directive& directive, ObjectType type, const std::string& object,
                         const cmds::Assignment& given) {
        const std::string full = given.resource.empty() ? given.name : given.name + "." + given.resource;
        const bool unset = directive.command == cmds::Command::unset;
        PrintedCommand printed{{unset ? CommandKind::unset : CommandKind::set,
                                type,
                                object,
                                {{full, given.value, static_cast<objects::Operation>(given.op)}}},
                               number_};
        if (unset) printed.command.changes.front().operation = objects::Operation::unset;
        if (given.op == Operator::set && !unset && is_of_policies(type, object, given)) return;
        if (is_own_folder(type, object, given.name)) return;
        if (const std::string why = objection(directive.type, printed); !why.empty())
            return not_carried_over(directive_text(printed), why);
        if (const std::string_view what = of_text(given); !what.empty() && !unset)
            note(directive_text(printed), what);
        if (!joins(printed)) result_.commands.push_back(std::move(printed));
    }

    // Returns a remark on a limit (resources_max or resources_min) on a resource whose values are no amounts:
    // what the limit does, here as with OpenPBS's server. Empty: the attribute is no such limit.
    std::string_view of_text(const cmds::Assignment& given) const {
        const bool maximum = values::same_word(given.name, "resources_max");
        if (!maximum && !values::same_word(given.name, "resources_min")) return {};
        constexpr std::array<std::string_view, 5> kTexts = {"select", "place", "software", "arch", "site"};
        const auto made = resources_.find(given.resource);
        const std::string_view type = made == resources_.end() ? std::string_view() : made->second.type;
        if (values::same_word(given.resource, "nodes") && maximum)
            return "limits no job: resources_max.nodect limits how many nodes or chunks a job asks for";
        if (maximum && (type == "boolean" || type == "string_array")) return "limits no job";
        if (type == "boolean") return "refuses jobs that ask for the other value";
        if (type == "string_array") return "refuses jobs that ask for something that isn't in it";
        const bool is_text =
            type == "string" || values::same_word(given.resource, "nodes") ||
            std::ranges::any_of(kTexts, [&](auto text) { return values::same_word(given.resource, text); });
        return is_text ? "compares as text, character by character" : "";
    }

    // Joins an assignment to an earlier one of the same attribute, if both make one value, and returns
    // whether it did. qmgr prints the elements of a list one by one, with `set` and `+=`. OpenPBS's qmgr
    // prints each limit on an entity by a `set` of its own. But a `set` of an entity that has a limit
    // already, or of several entities, replaces the value, as in qmgr.
    bool joins(const PrintedCommand& printed) {
        const objects::AttributeChange& change = printed.command.changes.front();
        if (change.operation != objects::Operation::increment &&
            !(change.operation == objects::Operation::set && is_limit(printed)))
            return false;
        for (auto earlier = result_.commands.rbegin(); earlier != result_.commands.rend(); ++earlier) {
            objects::Command& command = earlier->command;
            if (command.type != printed.command.type || command.object != printed.command.object) continue;
            if (command.changes.empty() || !values::same_word(command.changes.front().name, change.name))
                continue;
            if (command.kind != CommandKind::set ||
                command.changes.front().operation != objects::Operation::set)
                return false;
            std::string& value = command.changes.front().value;
            value = is_limit(printed) ? joined_limits(value, change) : value + "," + change.value;
            return true;
        }
        return false;
    }

    // Adds limits to a value; a limit on the same entity replaces the earlier one. If one of the texts can't
    // be read, appends the limits, and the server refuses the value.
    static std::string joined_limits(const std::string& value, const objects::AttributeChange& change) {
        auto limits = ifl::parse_entity_limits(value);
        const auto more = ifl::parse_entity_limits(change.value);
        if (!limits || !more) return value + "," + change.value;
        const auto same_entity = [](const ifl::EntityLimit& a) {
            return [&a](const ifl::EntityLimit& b) { return a.kind == b.kind && a.name == b.name; };
        };
        const bool replaces = change.operation == objects::Operation::set &&
                              (more->size() > 1 || std::ranges::any_of(*limits, same_entity(more->front())));
        if (replaces) return change.value;
        for (const ifl::EntityLimit& limit : *more) {
            const auto found = std::ranges::find_if(*limits, same_entity(limit));
            if (found == limits->end()) {
                limits->push_back(limit);
            } else {
                *found = limit;
            }
        }
        return ifl::entity_limits_text(*limits);
    }

    static bool is_limit(const PrintedCommand& printed) {
        const std::string& full = printed.command.changes.front().name;
        const cmds::HostAttribute* row = cmds::find_host_attribute(
            static_cast<cmds::ObjectType>(printed.command.type), full.substr(0, full.find('.')));
        return row != nullptr &&
               (row->type == cmds::HostType::limits || row->type == cmds::HostType::resource_limits);
    }

    // Returns whether the attribute is the folder of the default scheduler's files. Such an attribute is
    // dropped: this server keeps the files in its own home, and the older server may still use its folder.
    static bool is_own_folder(ObjectType type, std::string_view object, std::string_view name) {
        return type == ObjectType::sched && object == "default" &&
               (values::same_word(name, "sched_priv") || values::same_word(name, "sched_log"));
    }

    // Returns the reason for which this server refuses the attribute; empty: it takes it.
    static std::string objection(cmds::ObjectType type, const PrintedCommand& printed) {
        const std::string& full = printed.command.changes.front().name;
        const std::string name = full.substr(0, full.find('.'));
        const cmds::HostAttribute* row = cmds::find_host_attribute(type, name);
        if (row == nullptr)
            return cmds::is_attribute(type, name) ? std::string(kOwnObjects)
                                                  : fmt::format("this server has no attribute {}", name);
        if (row->has(ifl::openpbs_only)) return fmt::format("{} is an attribute of OpenPBS only", name);
        if (!row->writable()) return fmt::format("only the server itself sets {}", name);
        return {};
    }

    // Adds the assignment to the settings of policies and returns true, if it belongs there. False: it is a
    // command for the server.
    bool is_of_policies(ObjectType type, const std::string& object, const cmds::Assignment& given) {
        if (type == ObjectType::server || (type == ObjectType::sched && object == "default"))
            return set_policies(type, given);
        if (type == ObjectType::resource) {
            PrintedResource& resource = resources_[object];
            if (values::same_word(given.name, "type")) resource.type = given.value;
            if (values::same_word(given.name, "flag")) {
                resource.used_up = uses_up(given.value);
                resource.of_vnodes = given.value.find('h') != std::string::npos;
            }
            return false;
        }
        if (type != ObjectType::queue) return false;
        PrintedQueue& of = *queue(object);
        const std::string word = values::lowered(given.value);
        const bool says_when =
            word == "execution_prime" || word == "execution_non_prime" || word == "execution_dedicated";
        if (values::same_word(given.name, "execution_type")) {
            of.execution_type = says_when ? word : "";
            return says_when;
        }
        if (!values::same_word(given.name, "queue_type")) return false;
        of.route = word.starts_with('r');
        of.execution_type = says_when ? word : "";
        if (!says_when) return false;
        result_.commands.push_back(
            {{CommandKind::set, type, object, {{"queue_type", "Execution", objects::Operation::set}}},
             number_});
        return true;
    }

    bool set_policies(ObjectType type, const cmds::Assignment& given) {
        const auto moved = std::ranges::find_if(kMoved, [&](const Moved& row) {
            return row.of == type && values::same_word(given.name, row.printed);
        });
        if (moved == kMoved.end()) return false;
        const objects::Attribute& attribute = *objects::find_attribute(ObjectType::policy, moved->attribute);
        // Don't check formulas here: the conversion, which knows the resources, checks the names in them.
        const auto value = objects::parse_value(attribute, given.value);
        if (!value && !given.value.empty() && attribute.syntax != objects::Syntax::formula) {
            result_.mistakes.push_back(
                {result_.file, number_, 0, "", value.error().message, false, "the directive is left out"});
            return true;
        }
        std::erase_if(result_.settings,
                      [&](const PrintedSetting& one) { return one.attribute == moved->attribute; });
        result_.settings.push_back({moved->attribute, moved->printed, given.value, number_});
        return true;
    }

    PrintedQueue* queue(std::string_view name) {
        const auto found = std::ranges::find(result_.queues, name, &PrintedQueue::name);
        return found == result_.queues.end() ? nullptr : &*found;
    }

    void not_carried_over(std::string_view directive, std::string_view why) {
        note(directive, fmt::format("isn't carried over: {}", why));
    }

    void note(std::string_view directive, std::string_view why) {
        result_.notes.push_back(
            fmt::format("{}:{}: {}: {}", result_.file, number_, in_line(directive, 120), why));
    }

    QmgrPrint result_;
    cmds::DirectiveReader directives_;
    bool hook_contents_ = false;
    struct PrintedResource {
        bool used_up = false;
        bool of_vnodes = false;
        std::string type = "string";
    };
    std::map<std::string, PrintedResource> resources_;  // resources of the print by name
    std::map<cmds::ObjectType, std::vector<std::string>> active_;
    std::map<cmds::ObjectType, std::vector<std::string>> made_;
    int number_ = 0;  // line in which the current directive begins
};

}  // namespace

const PrintedSetting* QmgrPrint::setting(std::string_view attribute) const {
    const auto found = std::ranges::find(settings, attribute, &PrintedSetting::attribute);
    return found == settings.end() ? nullptr : &*found;
}

bool QmgrPrint::makes(std::string_view resource) const {
    const auto is = [&](const std::string& name) { return values::same_word(name, resource); };
    return std::ranges::any_of(consumables, is) || std::ranges::any_of(others, is);
}

bool uses_up(std::string_view flag) {
    return flag.find_first_of("nfq") != std::string_view::npos;
}

QmgrPrint parse_qmgr_print(std::string_view text, const std::string& file) {
    QmgrPrintReader reader(file);
    for_each_line(text, [&](std::string_view line, int number) { reader.read_line(line, number); });
    return reader.finish();
}

}  // namespace pbs::migrate

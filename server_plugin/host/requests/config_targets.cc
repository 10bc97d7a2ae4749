#include "server_plugin/host/requests/config_targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "ifl/error_text.h"
#include "ifl/pbs_error.h"
#include "server_plugin/host/requests/manage.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

struct Type {
    int number;
    ifl::Reply (*manage)(Management& request);
    std::array<std::string_view, 3> ties;  // attributes that other objects' checks look at
};
// In the order in which they are made: what is named before what names it.
constexpr std::array types = {Type{PBS_OBJ_RESOURCE, manage_resource, {}},
                              Type{PBS_OBJ_QUEUE, manage_queue, {"partition"}},
                              Type{PBS_OBJ_SCHED, manage_sched, {"partition", "sched_priv", "sched_log"}},
                              Type{PBS_OBJ_NODE, manage_node, {"queue", "partition"}},
                              Type{PBS_OBJ_SERVER, manage_server, {"default_queue"}}};

ifl::Attribute attribute(std::string_view key, std::string_view value, ifl::Op op) {
    const auto [name, resource] = split_key(key);
    return {std::string(name), std::string(resource), std::string(value), op};
}

// What makes `present` the target: values that are to go before those that are to be.
ifl::Attributes differences(const Type& type, const std::optional<ConfigValues>& present,
                            const ConfigTarget& target) {
    ifl::Attributes changes;
    if (present && !target.keeps_others)
        for (const auto& [key, value] : *present)
            // A queue has its type as long as it lives.
            if (find_value(target.values, key) == nullptr && key != "queue_type")
                changes.push_back(attribute(key, {}, ifl::Op::unset));
    ConfigValues wanted = *target.values;
    sort_values(type.number, wanted);
    for (const auto& [key, value] : wanted) {
        const std::string* current = find_value(present, key);
        if (current == nullptr || *current != value) changes.push_back(attribute(key, value, ifl::Op::set));
    }
    return changes;
}

class Reach {
  public:
    Reach(Context& context, const std::vector<ConfigTarget>& targets) : context_(context), targets_(targets) {
        for (const ConfigTarget& target : targets) {
            auto now = present(target.object);
            if (target.object.type == PBS_OBJ_RESOURCE && now && target.values != now)
                redefined_.insert(lower(target.object.name));
            before_[target.object] = std::move(now);
        }
    }

    Result<void> run() {
        for (const Type& type : types)
            if (auto done = each(type, &Reach::loosen); !done) return done;
        for (auto type = types.rbegin(); type != types.rend(); ++type)
            if (type->number != PBS_OBJ_RESOURCE)
                if (auto done = each(*type, &Reach::remove); !done) return done;
        for (const Type& type : types)
            if (auto done = each(type, &Reach::make); !done) return done;
        return each(types.front(), &Reach::remove);
    }

    Retargeted outcome() {
        for (const ConfigTarget& target : targets_) tell_difference(target);
        for (const auto& [object, was] : before_)
            if (auto is = present(object); is != was) result_.changes.push_back({object, was, std::move(is)});
        return std::move(result_);
    }

  private:
    std::optional<ConfigValues> present(const ConfigName& object) const {
        return config_values(context_.state(), context_.server.options.home, object);
    }

    Result<void> each(const Type& type,
                      Result<void> (Reach::*step)(const Type& type, const ConfigTarget& target)) {
        for (const ConfigTarget& target : targets_)
            if (target.object.type == type.number)
                if (auto done = (this->*step)(type, target); !done) return done;
        return {};
    }

    Result<void> ask(const Type& type, int command, const ConfigName& object, ifl::Attributes attributes) {
        if (type.number != PBS_OBJ_SERVER && (object.name.empty() || object.name.front() == '@'))
            return fail(PBSE_IVAL_OBJ_NAME,
                        fmt::format("{}: expected the name of one object", title(object)));
        const ifl::Manage body{static_cast<uint32_t>(command), static_cast<uint32_t>(type.number),
                               object.name, std::move(attributes)};
        Management request(context_, body);
        const ifl::Reply reply = type.manage(request);
        const auto* text = std::get_if<ifl::TextReply>(&reply.body);
        if (reply.code == 0) return {};
        return fail(reply.code, fmt::format("{}: {}", title(object),
                                            text != nullptr ? text->text : ifl::error_text(reply.code)));
    }

    Result<void> loosen(const Type& type, const ConfigTarget& target) {
        const auto now = present(target.object);
        ifl::Attributes ties;
        for (const std::string_view key : type.ties) {
            const std::string* is = find_value(now, key);
            const std::string* shall = find_value(target.values, key);
            const bool stays = is == nullptr || (shall == nullptr && target.values && target.keeps_others) ||
                               (shall != nullptr && *shall == *is);
            if (!stays) ties.push_back(attribute(key, {}, ifl::Op::unset));
        }
        // A resource is redefined or deleted when nothing has a value of it; make() sets those that stay.
        if (now && target.values)
            for (const auto& [key, value] : *now)
                if (redefined_.contains(lower(split_key(key).second)) &&
                    (!target.keeps_others || find_value(target.values, key) != nullptr))
                    ties.push_back(attribute(key, {}, ifl::Op::unset));
        if (ties.empty()) return {};
        return ask(type, PBS_CMD_UNSET, target.object, std::move(ties));
    }

    Result<void> remove(const Type& type, const ConfigTarget& target) {
        if (target.values || !present(target.object)) return {};
        // By other deletions it may be more than the targets that is different then.
        if (type.number == PBS_OBJ_QUEUE) {
            const ConfigName server{PBS_OBJ_SERVER, {}};
            before_.try_emplace(server, present(server));
        }
        return ask(type, PBS_CMD_DELETE, target.object, {});
    }

    Result<void> make(const Type& type, const ConfigTarget& target) {
        if (!target.values) return {};
        const auto now = present(target.object);
        ifl::Attributes changes = differences(type, now, target);
        if (now && changes.empty()) return {};
        // The default scheduler shares some of its attributes with the server.
        if (type.number == PBS_OBJ_SCHED || type.number == PBS_OBJ_SERVER)
            for (const ConfigName& other :
                 {ConfigName{PBS_OBJ_SERVER, {}}, ConfigName{PBS_OBJ_SCHED, "default"}})
                before_.try_emplace(other, present(other));
        if (now) return ask(type, PBS_CMD_SET, target.object, std::move(changes));
        if (auto made = ask(type, PBS_CMD_CREATE, target.object, std::move(changes)); !made) return made;
        // What is new may have more than it was asked to have.
        ifl::Attributes rest = differences(type, present(target.object), target);
        if (rest.empty()) return {};
        return ask(type, PBS_CMD_SET, target.object, std::move(rest));
    }

    void tell_difference(const ConfigTarget& target) {
        const auto now = present(target.object);
        if (!now || !target.values) return;
        for (const auto& [key, value] : *target.values) {
            const std::string* is = find_value(now, key);
            if (is == nullptr || *is != value)
                result_.warnings.push_back(fmt::format("{}: {} is {}, not {}", title(target.object), key,
                                                       is == nullptr ? "unset" : *is, value));
        }
        if (target.keeps_others) return;
        for (const auto& [key, value] : *now)
            if (find_value(target.values, key) == nullptr)
                result_.warnings.push_back(
                    fmt::format("{}: {} stays {}: it can't be unset", title(target.object), key, value));
    }

    Context& context_;
    const std::vector<ConfigTarget>& targets_;
    std::map<ConfigName, std::optional<ConfigValues>> before_;
    std::set<std::string> redefined_;  // resources, in lower case
    Retargeted result_;
};

}  // namespace

Result<Retargeted> reach(Context& context, const std::vector<ConfigTarget>& targets) {
    Reach work(context, targets);
    if (auto done = work.run(); !done) return tl::unexpected(done.error());
    return work.outcome();
}

}  // namespace pbs::host

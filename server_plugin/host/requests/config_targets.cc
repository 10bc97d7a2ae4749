#include "server_plugin/host/requests/config_targets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>

#include "ifl/error_text.h"
#include "ifl/pbs_error.h"
#include "server_plugin/host/requests/manage.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "values/text.h"

namespace pbs::host {
namespace {

struct Kind {
    int number;
    ifl::Reply (*manage)(Management& request);
    std::array<std::string_view, 3> ties;  // attributes by which objects of this type refer to others
};
// The types in the order in which their objects are made: a type comes before the types whose objects refer
// to its objects.
constexpr std::array kTypes = {Kind{PBS_OBJ_RESOURCE, manage_resource, {}},
                               Kind{PBS_OBJ_QUEUE, manage_queue, {"partition"}},
                               Kind{PBS_OBJ_SCHED, manage_sched, {"partition", "sched_priv", "sched_log"}},
                               Kind{PBS_OBJ_NODE, manage_node, {"queue", "partition"}},
                               Kind{PBS_OBJ_SERVER, manage_server, {"default_queue"}}};

ifl::Attribute attribute(std::string_view key, std::string_view value, ifl::Op op) {
    const auto [name, resource] = split_key(key);
    return {std::string(name), std::string(resource), std::string(value), op};
}

// Returns the changes that turn the values `present` into the target's. Values to remove come before values
// to set.
ifl::Attributes differences(const Kind& type, const std::optional<ConfigValues>& present,
                            const ConfigTarget& target) {
    ifl::Attributes changes;
    if (present && !target.keeps_others)
        for (const auto& [key, value] : *present)
            // Keep queue_type, because the type of a queue can't be unset.
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

}  // namespace

class Reach::Impl {
  public:
    Impl(Context& context, std::vector<ConfigTarget> targets)
        : context_(context), targets_(std::move(targets)) {
        for (const ConfigTarget& target : targets_) {
            if (target.object.type != PBS_OBJ_RESOURCE) continue;
            // Look at built-in resources, too, which aren't objects: the site may have values of them.
            const Resource* now = context_.state().resources.find(target.object.name);
            if (now != nullptr && (target.values ? *target.values != config_values(*now) : !now->built_in))
                redefined_.insert(values::lowered(target.object.name));
        }
        for (const Kind& type : kTypes) passes_.push_back({&type, &Impl::loosen});
        for (auto type = kTypes.rbegin(); type != kTypes.rend(); ++type)
            if (type->number != PBS_OBJ_RESOURCE) passes_.push_back({&*type, &Impl::remove});
        for (const Kind& type : kTypes) passes_.push_back({&type, &Impl::make});
        passes_.push_back({&kTypes.front(), &Impl::remove});
    }

    Result<bool> go_on() {
        for (; pass_ < passes_.size(); ++pass_, target_ = 0)
            while (target_ < targets_.size()) {
                const ConfigTarget& target = targets_[target_++];
                const Pass& pass = passes_[pass_];
                if (target.object.type != pass.type->number) continue;
                if (auto done = (this->*pass.step)(*pass.type, target); !done)
                    return tl::unexpected(done.error());
                return true;
            }
        if (told_ == targets_.size()) return false;
        tell_difference(targets_[told_++]);
        return true;
    }

    const std::vector<std::string>& warnings() const { return warnings_; }

  private:
    struct Pass {
        const Kind* type;
        Result<void> (Impl::*step)(const Kind& type, const ConfigTarget& target);
    };

    std::optional<ConfigValues> present(const ConfigName& object) const {
        return config_values(context_.state(), context_.server.options.home, object);
    }

    Result<void> ask(const Kind& type, int command, const ConfigName& object, ifl::Attributes attributes) {
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

    Result<void> loosen(const Kind& type, const ConfigTarget& target) {
        const auto now = present(target.object);
        ifl::Attributes ties;
        for (const std::string_view key : type.ties) {
            const std::string* is = find_value(now, key);
            const std::string* shall = find_value(target.values, key);
            const bool stays = is == nullptr || (shall == nullptr && target.values && target.keeps_others) ||
                               (shall != nullptr && *shall == *is);
            if (!stays) ties.push_back(attribute(key, {}, ifl::Op::unset));
        }
        // Before a resource is redefined or deleted, no object may have a value of it, so unset those values
        // here. make() sets the target's values again.
        if (now && target.values)
            for (const auto& [key, value] : *now)
                if (redefined_.contains(values::lowered(split_key(key).second)) &&
                    (!target.keeps_others || find_value(target.values, key) != nullptr))
                    ties.push_back(attribute(key, {}, ifl::Op::unset));
        if (ties.empty()) return {};
        return ask(type, PBS_CMD_UNSET, target.object, std::move(ties));
    }

    Result<void> remove(const Kind& type, const ConfigTarget& target) {
        if (target.values || !present(target.object)) return {};
        return ask(type, PBS_CMD_DELETE, target.object, {});
    }

    Result<void> make(const Kind& type, const ConfigTarget& target) {
        if (!target.values) return {};
        const auto now = present(target.object);
        ifl::Attributes changes = differences(type, now, target);
        if (now && changes.empty()) return {};
        if (now) return ask(type, PBS_CMD_SET, target.object, std::move(changes));
        if (auto made = ask(type, PBS_CMD_CREATE, target.object, std::move(changes)); !made) return made;
        // A new object may have attributes by default that the target doesn't have, so compare again.
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
                warnings_.push_back(fmt::format("{}: {} is {}, not {}", title(target.object), key,
                                                is == nullptr ? "unset" : *is, value));
        }
        if (target.keeps_others) return;
        for (const auto& [key, value] : *now)
            if (find_value(target.values, key) == nullptr)
                warnings_.push_back(
                    fmt::format("{}: {} stays {}: it can't be unset", title(target.object), key, value));
    }

    Context& context_;
    std::vector<ConfigTarget> targets_;
    std::vector<Pass> passes_;
    size_t pass_ = 0;
    size_t target_ = 0;  // next target of the present pass
    size_t told_ = 0;
    std::set<std::string> redefined_;  // names, in lower case, of the resources that are redefined or deleted
    std::vector<std::string> warnings_;
};

Reach::Reach(Context& context, std::vector<ConfigTarget> targets)
    : impl_(std::make_unique<Impl>(context, std::move(targets))) {}
Reach::~Reach() = default;

Result<bool> Reach::go_on() {
    return impl_->go_on();
}
const std::vector<std::string>& Reach::warnings() const {
    return impl_->warnings();
}

}  // namespace pbs::host

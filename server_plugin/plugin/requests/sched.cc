// Manager requests for schedulers. They set the policy slots (OpenPBS's design document PP-748, interfaces 1
// and 5), which name the scheduler's policies, and attributes that are a policy's here but a scheduler's in
// OpenPBS. Attributes that are only shown can't be set.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "objects/draft.h"
#include "objects/execute.h"
#include "server_plugin/plugin/requests/manager.h"
#include "server_plugin/plugin/requests/show.h"

namespace pbs::plugin {
namespace {

using objects::ObjectType;

bool is_of_policies(const objects::AttributeChange& change) {
    return objects::find_attribute(ObjectType::policy, change.name) != nullptr &&
           objects::find_attribute(ObjectType::sched, change.name) == nullptr;
}

// Returns the policies in the scheduler's slots, each once.
std::vector<std::string> policies_in_slots(const objects::Draft& draft, std::string_view sched) {
    const objects::ObjectPtr object = draft.find(ObjectType::sched, sched);
    if (object == nullptr) return {};
    const objects::PolicySlots slots = objects::slots_from_list(object->list("policy"));
    std::vector<std::string> policies;
    for (const std::string& name : slots.names())
        if (std::ranges::find(policies, name) == policies.end()) policies.push_back(name);
    return policies;
}

// Makes the change in all policies in the scheduler's slots, or in none.
objects::Result<objects::Reply> change_in_policies(objects::Store& store, const ManagerRequest& request) {
    const objects::Command& asked = request.command;
    std::vector<std::string_view> names;
    for (const objects::AttributeChange& change : asked.changes)
        names.push_back(objects::find_attribute(ObjectType::policy, change.name)->name);
    std::string note;
    objects::Rewrite rewrite;
    rewrite.command = objects::to_text(asked);
    rewrite.host = asked.host;
    rewrite.work = [&](objects::Draft& draft, const objects::CheckContext& context,
                       std::vector<std::string>&) -> objects::Result<void> {
        const std::vector<std::string> policies = policies_in_slots(draft, asked.object);
        if (policies.empty())
            return objects::fail(objects::Code::bad_value,
                                 fmt::format("{} is an attribute of policies, and sched {} has none",
                                             names.front(), asked.object));
        for (const std::string& policy : policies) {
            const objects::Command one{asked.kind, ObjectType::policy, policy, asked.changes};
            if (auto done = objects::execute_on(draft, one, context); !done) return done;
        }
        note = fmt::format("sched {}: {} {} {} in its policies: {}", asked.object, fmt::join(names, ", "),
                           names.size() == 1 ? "is" : "are",
                           asked.kind == objects::CommandKind::unset ? "unset" : "set",
                           fmt::join(policies, ", "));
        return {};
    };
    auto done = store.rewrite(rewrite, request.who, request.now);
    if (done) done->warnings.push_back(std::move(note));
    return done;
}

}  // namespace

objects::Result<objects::Reply> manage_sched(objects::Store& store, const ManagerRequest& request) {
    const objects::Command& command = request.command;
    for (const objects::AttributeChange& change : command.changes) {
        if (is_shown_only(ObjectType::sched, change.name)) {
            return objects::fail(objects::Code::kReadOnly,
                                 fmt::format("{} of sched {} is shown, it can't be set or unset", change.name,
                                             command.object));
        }
    }
    const auto found = std::ranges::find_if(command.changes, is_of_policies);
    if (found == command.changes.end()) return store.execute(command, request.who, request.now);
    if (!std::ranges::all_of(command.changes, is_of_policies))
        return objects::fail(
            objects::Code::bad_value,
            fmt::format("{} is an attribute of policies: set it in a request of its own", found->name));
    if (const auto allowed = objects::authorize(command, request.who); !allowed)
        return tl::unexpected(allowed.error());
    return change_in_policies(store, request);
}

}  // namespace pbs::plugin

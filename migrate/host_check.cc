#include "migrate/host_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ifl/attributes/built_in_resources.h"
#include "ifl/cmds/host_attributes.h"
#include "objects/resources.h"
#include "values/text.h"

namespace pbs::migrate {
namespace {

using cmds::HostType;
using objects::CommandKind;
using objects::ObjectType;

class Check {
  public:
    Check(const HostWork& work, const Surroundings& server) : server_(server) {
        for (const PrintedCommand& printed : work.commands)
            if (printed.command.type == ObjectType::resource && printed.command.kind == CommandKind::create)
                made_.insert(values::lowered(printed.command.object));
    }

    // Returns the reason for which the server will refuse the directive; empty: none is known.
    std::string objection(const objects::Command& command) const {
        if (command.changes.empty()) return {};
        const std::string& full = command.changes.front().name;
        const std::size_t dot = std::min(full.find('.'), full.size());
        const cmds::HostAttribute* row =
            cmds::find_host_attribute(static_cast<cmds::ObjectType>(command.type), full.substr(0, dot));
        if (command.type == ObjectType::resource) return objection_to_definition(command, row);
        const bool limits = row != nullptr && row->type == HostType::resource_limits;
        if (row == nullptr || dot == full.size() || (row->type != HostType::resources && !limits)) return {};
        const std::string resource = full.substr(dot + 1);
        const ifl::BuiltInResource* built_in = ifl::find_built_in_resource(resource);
        if (built_in != nullptr && built_in->for_policies && made_.contains(values::lowered(resource)))
            return {};
        if (limits && built_in != nullptr && built_in->type == HostType::text)
            return fmt::format("{} can't limit {}: it isn't an amount", row->name, resource);
        if (built_in != nullptr || may_have(resource)) return {};
        return fmt::format("there is no resource {}", resource);
    }

  private:
    std::string objection_to_definition(const objects::Command& command,
                                        const cmds::HostAttribute* row) const {
        const ifl::BuiltInResource* built_in = ifl::find_built_in_resource(command.object);
        if (built_in != nullptr && !built_in->for_policies)
            return fmt::format("resource {} is built in", command.object);
        const std::string& value = command.changes.front().value;
        const bool known =
            row == nullptr || row->words.empty() || std::ranges::find(row->words, value) != row->words.end();
        if (known || command.kind == CommandKind::unset) return {};
        return fmt::format("there is no type {} of resources", value);
    }

    bool may_have(const std::string& resource) const {
        if (!server_.knows_resources || made_.contains(values::lowered(resource))) return true;
        if (server_.has(ObjectType::resource, resource) == true) return true;
        // A configured server reports only consumable resources of the usual ones. So it may have any other
        // usual resource, too.
        static const objects::ResourceNames usual;
        const auto built_in = [](const std::string& name) {
            return ifl::find_built_in_resource(name) != nullptr;
        };
        const bool fresh = std::ranges::all_of(server_.consumables, built_in) &&
                           std::ranges::all_of(server_.others, built_in);
        return !fresh && usual.contains(resource);
    }

    const Surroundings& server_;
    std::set<std::string> made_;  // resources that the directives create, in lower case
};

}  // namespace

std::vector<std::string> leave_out_refused(HostWork& work, const Surroundings& server) {
    const Check check(work, server);
    std::vector<std::string> notes;
    std::erase_if(work.commands, [&](const PrintedCommand& printed) {
        const std::string why = check.objection(printed.command);
        if (!why.empty()) notes.push_back(refusal_note(work, printed, why));
        return !why.empty();
    });
    return notes;
}

}  // namespace pbs::migrate

#include "migrate/other_scheds.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace pbs::migrate {
namespace {

using objects::Command;
using objects::CommandKind;
using objects::ObjectType;

constexpr std::string_view kDefault = "default";

class Renamed {
  public:
    explicit Renamed(const std::string& name) : name_(name) {}

    // Replaces `default` by the scheduler's name in references: "p:default_policy_prime" becomes
    // "p:NAME_policy_prime".
    std::string text(std::string_view text) const {
        std::string out;
        for (std::size_t at = 0; at < text.size();) {
            const std::string_view rest = text.substr(at);
            const bool begins =
                at == 0 || std::string_view(" ,:").find(text[at - 1]) != std::string_view::npos;
            if (begins && rest.starts_with(kDefault)) {
                out += name_;
                at += kDefault.size();
            } else {
                out += text[at++];
            }
        }
        return out;
    }

    void command(Command& one) const {
        one.object = text(one.object);
        for (objects::AttributeChange& change : one.changes)
            if (is_name(change.name)) change.value = text(change.value);
    }

    void line(Report::Line& one) const {
        one.target = text(one.target);
        if (is_name(one.target.substr(one.target.rfind(' ') + 1))) one.value = text(one.value);
    }

  private:
    static bool is_name(std::string_view attribute) {
        return attribute == "policy" || attribute == "fairshare_group";
    }

    const std::string& name_;
};

bool is_of_one(const Command& command) {
    return command.type == ObjectType::policy || command.type == ObjectType::fs_group ||
           command.type == ObjectType::sched;
}

}  // namespace

Conversion of_sched(Conversion made, const std::string& name) {
    const Renamed renamed(name);
    Conversion out;
    const std::string policy = name + "_policy";
    out.changes.commands.push_back({CommandKind::create, ObjectType::policy, policy});
    bool assigned = false;
    for (Command& command : made.changes.commands) {
        if (!is_of_one(command)) continue;
        assigned = assigned || command.type == ObjectType::sched;
        renamed.command(command);
        out.changes.commands.push_back(std::move(command));
    }
    if (!assigned)
        out.changes.commands.push_back({CommandKind::set, ObjectType::sched, name, {{"policy", policy}}});
    for (Report::Line& line : made.report.lines) {
        if (!line.target.starts_with("policy ") && !line.target.starts_with("fs_group ")) continue;
        renamed.line(line);
        out.report.lines.push_back(std::move(line));
    }
    out.report.lines.push_back({fmt::format("sched {}", name), fmt::format("sched {} policy", name), policy});
    out.report.notes = std::move(made.report.notes);
    return out;
}

}  // namespace pbs::migrate

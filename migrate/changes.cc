#include "migrate/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "migrate/host_check.h"
#include "migrate/object_names.h"
#include "migrate/sweep.h"
#include "objects/unsupported.h"
#include "objects/value.h"
#include "values/abridged.h"

namespace pbs::migrate {

using objects::Command;
using objects::CommandKind;
using objects::ObjectType;
using objects::Operation;

namespace {

std::string key_of(ObjectType type, std::string_view object, std::string_view attribute) {
    return fmt::format("{}\t{}\t{}", static_cast<int>(type), object, attribute);
}

}  // namespace

Changes::Changes(const objects::Snapshot* current, const Ledger& before, const Surroundings& server,
                 const Surroundings& known, bool strict)
    : current_(current), before_(before), server_(server), strict_(strict) {
    for (const auto* names : {&known.consumables, &known.others})
        for (const std::string& name : *names) resources_.add(name);
    for (const LedgerLine& line : before.lines)
        lines_before_.emplace(key_of(line.type, line.object, line.attribute), &line);
}

const LedgerLine* Changes::line_before(ObjectType type, std::string_view object,
                                       std::string_view attribute) const {
    const auto found = lines_before_.find(key_of(type, object, attribute));
    return found == lines_before_.end() ? nullptr : found->second;
}

void Changes::begin(Part part) {
    part_ = part;
    parts_.insert(part);
}

void Changes::record(ObjectType type, const std::string& object, std::string_view attribute,
                     const std::string& value) {
    LedgerLine line{part_, type, object, std::string(attribute), value};
    if (recorded_.insert(key_of(type, object, attribute) + "\t" + value).second)
        out_.ledger.lines.push_back(std::move(line));
}

std::string Changes::recorded(ObjectType type, const std::string& object, std::string_view attribute) const {
    const LedgerLine* line = line_before(type, object, attribute);
    return line == nullptr ? std::string() : line->value;
}

void Changes::set(ObjectType type, const std::string& object, std::string_view name, const std::string& text,
                  const std::string& from) {
    const objects::Attribute* attribute = objects::find_attribute(type, name);
    if (attribute == nullptr) return refuse(from, fmt::format("there is no attribute {}", name));
    const auto value = objects::parse_value(*attribute, text);
    const bool is_a_formula = attribute->syntax == objects::Syntax::formula;
    if (!value) return is_a_formula ? no_formula(from, value.error()) : refuse(from, value.error().message);
    if (is_a_formula && !is_formula(*attribute, text, from)) return;
    const objects::Object* there = current_ == nullptr ? nullptr : current_->find(type, object);
    const objects::Value* old = there == nullptr ? nullptr : there->set_value(*attribute);
    const std::string shown = objects::format_value(*attribute, *value);
    const bool changed = old == nullptr || *old != *value;
    object_after(type, object).assign(*attribute, *value);
    record(type, object, attribute->name, shown);
    out_.report.lines.push_back(
        {from, fmt::format("{} {} {}", objects::type_name(type), object, attribute->name), shown, changed,
         old == nullptr ? "" : objects::format_value(*attribute, *old)});
    if (changed)
        out_.changes.commands.push_back(
            {CommandKind::set, type, object, {{std::string(attribute->name), shown, Operation::set}}});
}

// Returns whether the text is a formula in the language of the attribute. If it isn't, for example a formula
// in Python, reports that it is left out. Adds a note for each unknown name in it.
bool Changes::is_formula(const objects::Attribute& attribute, const std::string& text,
                         const std::string& from) {
    std::vector<std::string> unknown;
    const auto checked = objects::check_formula(attribute.name, text, resources_, &unknown);
    for (const std::string& name : unknown)
        note_once(fmt::format("{}: {}: '{}' is not a known resource, and counts as 0 until it is", from,
                              attribute.name, name));
    if (!checked) no_formula(from, checked.error());
    return checked.has_value();
}

void Changes::no_formula(const std::string& from, const objects::Error& error) {
    if (strict_) return refuse(from, error.message);
    note_once(fmt::format("{}: {}; it is left out", from, error.message));
}

void Changes::note_once(std::string note) {
    auto& all = out_.report.notes;
    if (std::ranges::find(all, note) == all.end()) all.push_back(std::move(note));
}

void Changes::refuse(const std::string& from, std::string message) {
    // A value may come from thousands of lines, and may be as long.
    constexpr std::size_t kMost = 400;
    problems_.push_back({values::abridged(from, kMost), 0, 0, "", values::abridged(message, kMost)});
}

objects::Object& Changes::object_after(ObjectType type, const std::string& object) {
    const auto [found, is_new] = made_.try_emplace(std::pair(type, object), objects::Object(type, object));
    if (is_new && current_ != nullptr)
        if (const objects::Object* there = current_->find(type, object)) found->second = *there;
    return found->second;
}

void Changes::create(ObjectType type, const std::string& object) {
    object_after(type, object);
    const bool there = current_ != nullptr && current_->find(type, object) != nullptr;
    if (!there || line_before(type, object, "") != nullptr) {
        const bool is_new = !recorded_.contains(key_of(type, object, "") + "\t");
        record(type, object, "", "");
        if (!there && is_new) out_.changes.commands.push_back({CommandKind::create, type, object, {}});
    }
}

void Changes::set_all(ObjectType type, const std::string& object, const std::vector<SchedValue>& values,
                      const std::string& file) {
    for (const SchedValue& value : values) {
        const std::string line = value.line == 0 ? std::string() : fmt::format(":{}", value.line);
        set(type, object, value.attribute, value.value,
            fmt::format("{}{} {}{}", file, line, value.option, value.line == 0 ? " (not set)" : ""));
    }
}

void Changes::note_all(const std::vector<std::string>& more) {
    out_.report.notes.insert(out_.report.notes.end(), more.begin(), more.end());
}

void Changes::tell_unless_in_force() {
    if (current_ == nullptr || current_->policy_slots(kSched).all_time == kPolicy) return;
    out_.report.notes.emplace_back(fmt::format(
        "the scheduler `{1}` doesn't use {0}: set sched {1} policy = {0} puts it in force", kPolicy, kSched));
}

std::vector<const objects::Object*> Changes::policies() const {
    std::vector<const objects::Object*> found;
    for (const auto& [key, object] : made_)
        if (key.first == ObjectType::policy) found.push_back(&object);
    if (!found.empty() || current_ == nullptr) return found;
    const objects::PolicySlots slots = current_->policy_slots(kSched);
    for (const std::string& name : slots.names())
        if (const objects::Object* policy = current_->policy(name)) found.push_back(policy);
    return found;
}

std::vector<const PrintedCommand*> Changes::resources(const QmgrPrint& file, const QmgrPrint* print) {
    std::vector<const PrintedCommand*> known;
    note_all(file.notes);
    out_.host.file = file.file;
    for (const PrintedCommand& printed : file.commands) {
        const Command& command = printed.command;
        const bool creates = command.kind == CommandKind::create;
        if (server_.has(ObjectType::resource, command.object) == true &&
            line_before(ObjectType::resource, command.object, "") == nullptr) {
            if (creates) known.push_back(&printed);
            continue;
        }
        if (print != nullptr && print->makes(command.object)) continue;
        out_.host.commands.push_back(printed);
        out_.host.commands.back().file = file.file;
        if (creates) record(command.type, command.object, "", "");
    }
    return known;
}

// Adds notes on attributes of printed queues that have no effect with the policies.
void Changes::notes_on_queues(const std::set<std::string>& route_queues) {
    const std::vector<const objects::Object*> by = policies();
    for (const PrintedCommand& printed : out_.host.commands) {
        const Command& command = printed.command;
        if (command.type != ObjectType::queue || command.changes.empty() ||
            route_queues.contains(command.object))
            continue;
        const objects::QueueValue value(command.changes[0].name, command.changes[0].value);
        for (const objects::Object* policy : by)
            note_all(objects::unsupported_in_queue(*policy, command.object, std::span(&value, 1)));
    }
}

Result<Conversion> Changes::finish(const std::set<std::string>& route_queues) {
    if (!problems_.empty()) return tl::unexpected(std::move(problems_));
    note_all(leave_out_refused(out_.host, server_));
    Swept swept = sweep(before_, out_.ledger, parts_, current_, server_);
    auto& lines = out_.report.lines;
    lines.insert(lines.end(), swept.lines.begin(), swept.lines.end());
    note_all(swept.notes);
    auto& commands = out_.changes.commands;
    commands.insert(commands.end(), swept.commands.begin(), swept.commands.end());
    out_.queue_types.insert(out_.queue_types.end(), swept.queue_types.begin(), swept.queue_types.end());
    out_.ledger = std::move(swept.ledger);
    if (!server_.same_scheduler) {
        for (const auto& [key, object] : made_) note_all(objects::unsupported_lines(object));
        notes_on_queues(route_queues);
    }
    return std::move(out_);
}

}  // namespace pbs::migrate

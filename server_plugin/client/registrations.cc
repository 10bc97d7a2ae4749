#include "server_plugin/client/registrations.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>
#include <utility>

#include "ifl/pbs_error.h"

namespace pbs::client {
namespace {

std::string clock_text(std::int64_t at) {
    return fmt::format("{:%a %b %e %H:%M:%S %Y}", fmt::localtime(std::time_t{at}));
}

}  // namespace

ifl::Result<bool> Registrations::add(const std::string& sched, By by, Held& held) {
    if (has(held)) return false;
    Entry& entry = table_->entries[sched];
    if (entry.number != 0)
        return tl::unexpected(
            ifl::Error{PBSE_SCHEDCONNECTED, fmt::format("{} has been registered as scheduler {} since {}",
                                                        entry.by.who, sched, clock_text(entry.by.since))});
    entry = {std::move(by), ++table_->last};
    const std::weak_ptr<Table> table = table_;
    held = {new Registration{sched, entry.number}, [table](const Registration* given) {
                const std::unique_ptr<const Registration> own(given);
                const auto still = table.lock();
                if (still == nullptr) return;
                const auto at = still->entries.find(own->sched);
                if (at == still->entries.end() || at->second.number != own->number) return;
                at->second = {{{}, still->ended(own->sched, at->second.by.who)}, 0};
            }};
    return true;
}

std::string Registrations::text_of(std::string_view sched) const {
    const By by = of(sched);
    return fmt::format("{} since {}", by.who.empty() ? "nobody" : by.who, clock_text(by.since));
}

Registrations::By Registrations::of(std::string_view sched) const {
    const auto found = table_->entries.find(sched);
    return found == table_->entries.end() ? By{{}, table_->begun} : found->second.by;
}

void Registrations::end(std::string_view sched) {
    const auto found = table_->entries.find(sched);
    if (found == table_->entries.end()) return;
    if (found->second.number != 0) (void)table_->ended(sched, found->second.by.who);
    table_->entries.erase(found);
}

bool Registrations::has(const Held& held) const {
    if (held == nullptr) return false;
    const auto found = table_->entries.find(held->sched);
    return found != table_->entries.end() && found->second.number == held->number;
}

}  // namespace pbs::client

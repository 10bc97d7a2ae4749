#include "server_plugin/host/state/registrations.h"

#include <utility>

namespace pbs::host {

Registrations::Held Registrations::add(const std::string& sched, By by) {
    Entry& entry = table_->entries[sched];
    if (entry.number != 0) return nullptr;
    entry = {std::move(by), ++table_->last};
    const std::weak_ptr<Table> table = table_;
    return {new Registration{sched, entry.number}, [table](const Registration* held) {
                const std::unique_ptr<const Registration> own(held);
                const auto still = table.lock();
                if (still == nullptr) return;
                const auto at = still->entries.find(own->sched);
                if (at == still->entries.end() || at->second.number != own->number) return;
                at->second = {{{}, still->ended(own->sched, at->second.by.who)}, 0};
            }};
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

}  // namespace pbs::host

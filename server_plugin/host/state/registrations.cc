#include "server_plugin/host/state/registrations.h"

#include <utility>

namespace pbs::host {

Registrations::Held Registrations::add(const std::string& sched, By by) {
    By& known = table_->by[sched];
    if (!known.who.empty()) return nullptr;
    known = std::move(by);
    const std::weak_ptr<Table> table = table_;
    return {new std::string(sched), [table](const std::string* held) {
                const std::unique_ptr<const std::string> name(held);
                const auto still = table.lock();
                if (still == nullptr) return;
                By& was = still->by[*name];
                was = {{}, still->ended(*name, was.who)};
            }};
}

Registrations::By Registrations::of(std::string_view sched) const {
    const auto found = table_->by.find(sched);
    return found == table_->by.end() ? By{{}, table_->begun} : found->second;
}

}  // namespace pbs::host

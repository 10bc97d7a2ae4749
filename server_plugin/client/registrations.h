// The programs of a site that schedule in place of the plugin's algorithm, at most one for each scheduler.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "ifl/error.h"

namespace pbs::client {

class Registrations {
  public:
    struct By {
        std::string who;  // user@host; empty: nobody
        std::int64_t since = 0;
    };
    // Called when a program's registration ends. Returns the present time.
    using Ended = std::function<std::int64_t(std::string_view sched, std::string_view who)>;
    struct Registration {
        std::string sched;
        std::uint64_t number = 0;
    };
    // A registration. It ends when the last copy of this pointer is destroyed.
    using Held = std::shared_ptr<const Registration>;

    // `now`: the time that text_of() names for schedulers without a registration so far ("nobody since ...").
    Registrations(std::int64_t now, Ended ended) : table_(new Table{{}, now, std::move(ended)}) {}

    // Registers a program for a scheduler. `held`: the program's earlier registration for it, or null; gets
    // the new one. Returns false, and changes nothing, if the earlier one is still in force.
    // PBSE_SCHEDCONNECTED: another program is registered.
    ifl::Result<bool> add(const std::string& sched, By by, Held& held);
    // Returns which program is registered, and since when: "alice@host since Sun Nov 29 10:00:00 2026", or
    // "nobody since ...".
    std::string text_of(std::string_view sched) const;
    // Ends the registration of a scheduler that is gone. Another scheduler of its name may have another one,
    // whatever becomes of the first one's Held.
    void end(std::string_view sched);

  private:
    By of(std::string_view sched) const;
    bool has(const Held& held) const;

    struct Entry {
        By by;
        std::uint64_t number = 0;  // of the registration; 0: none
    };
    struct Table {
        std::map<std::string, Entry, std::less<>> entries;
        std::int64_t begun;
        Ended ended;
        std::uint64_t last = 0;
    };
    std::shared_ptr<Table> table_;  // a registration may outlive the server
};

}  // namespace pbs::client

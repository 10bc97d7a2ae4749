// The external programs that schedule in place of the plugin's algorithm, at most one for each scheduler.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

namespace pbs::host {

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

    // `now`: the time that of() returns as `since` for a scheduler for which nobody has registered yet.
    Registrations(std::int64_t now, Ended ended) : table_(new Table{{}, now, std::move(ended)}) {}

    // Registers a program for a scheduler. Returns null if another program is registered for it.
    Held add(const std::string& sched, By by);
    By of(std::string_view sched) const;
    // Ends the registration of a scheduler that is gone. Another scheduler of its name may have another one,
    // whatever becomes of the first one's Held.
    void end(std::string_view sched);
    // Returns whether the registration is in force.
    bool has(const Held& held) const;

  private:
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

}  // namespace pbs::host

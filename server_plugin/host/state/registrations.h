// The programs that schedule in place of the plugin's algorithm: one for each scheduler at most.
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
    // Called when a registration ends. Returns the present time.
    using Ended = std::function<std::int64_t(std::string_view sched, std::string_view who)>;
    // A registration; the last copy's destruction ends it.
    using Held = std::shared_ptr<const std::string>;

    // `now`: since when nobody is registered.
    Registrations(std::int64_t now, Ended ended) : table_(new Table{{}, now, std::move(ended)}) {}

    // Registers; null: somebody is registered.
    Held add(const std::string& sched, By by);
    By of(std::string_view sched) const;

  private:
    struct Table {
        std::map<std::string, By, std::less<>> by;
        std::int64_t begun;
        Ended ended;
    };
    std::shared_ptr<Table> table_;  // a registration may outlive the server
};

}  // namespace pbs::host

// The requests of programs of the site that schedule in place of the plugin, as pbs_statchanges(3B)
// describes: registration, the wait for changes, and starts that the policy's filters test.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ifl/reply.h"
#include "server_plugin/client/registrations.h"
#include "server_plugin/openpbs/messages.h"
#include "server_plugin/openpbs/plugin.h"
#include "server_plugin/openpbs/scheduling.h"

namespace pbs::openpbs {

// Functions that return an optional reply return none if they have to be called again.
class Programs {
  public:
    using Clock = std::chrono::steady_clock;

    Programs(Plugin& plugin, const Site& site, Scheduling& scheduling,
             std::function<void(const std::string&)> log)
        : plugin_(plugin), site_(site), scheduling_(scheduling), log_(std::move(log)) {}
    Programs(const Programs&) = delete;
    Programs& operator=(const Programs&) = delete;

    // "object=registration": registers the program as the scheduler that the request names, until its ticket
    // is given up.
    ifl::Reply enter(std::int64_t now, const Ask& asked, const Identity& who);

    // "object=changes;version=N;timeout=SECONDS": checks the request, and begins the wait. Returns an error,
    // or the extend string for the plugin.
    ifl::Result<std::string> begin_wait(const Ask& asked, std::string_view extend, const Identity& who);
    // Returns whether the request still waits for the first change.
    bool waits(std::uint64_t ticket) const;
    // Returns the time until the first wait for changes ends; 0 if a waiting request can be answered now.
    std::chrono::milliseconds patience() const;

    // Tests a start with "check=True". If the filters let the job start, the reply has the place, and the
    // records have the job as running there.
    std::optional<ifl::Reply> start(std::int64_t now, const Ask& asked, const Identity& who);
    // "object=explanation;location": explains a start. `objects` gets the answer.
    std::optional<ifl::Reply> explain(std::int64_t now, const Ask& asked, const Identity& who,
                                      std::vector<ifl::ObjectStatus>& objects);

    // Notes that the server has handled a start that start() has granted.
    void handled(std::uint64_t ticket);
    // Forgets the request, ends the registrations that have its ticket, and takes back the start that it was
    // granted but that hasn't come about.
    void give_up(std::uint64_t ticket);
    // Forgets a wait that is over.
    void end_wait(std::uint64_t ticket) { waiting_.erase(ticket); }

  private:
    struct Waiting {
        std::int64_t version = 0;
        Clock::time_point until{};
    };
    // Checks that a program may schedule for this scheduler. PBSE_UNKSCHED, PBSE_NOSUP.
    ifl::Result<void> check_sched(const std::string& sched) const;
    // Returns the error of a test of a start; code 0: there is none. Returns none while the records don't
    // have the server's jobs.
    std::optional<ifl::Reply> objection_to_test() const;

    Plugin& plugin_;
    const Site& site_;
    Scheduling& scheduling_;
    std::function<void(const std::string&)> log_;
    // The registrations, by ticket and scheduler.
    std::map<std::pair<std::uint64_t, std::string>, client::Registrations::Held> entered_;
    std::map<std::uint64_t, Waiting> waiting_;
    struct Granted {
        std::string job;
        Job before;  // the job, or its array, before the start
    };
    std::map<std::uint64_t, Granted> granted_;  // the starts that the server hasn't handled yet, by ticket
};

}  // namespace pbs::openpbs

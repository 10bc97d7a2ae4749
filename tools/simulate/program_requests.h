// Answers the requests of a program that schedules a simulation, as the server would.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ifl/reply.h"
#include "ifl/request.h"
#include "tools/simulate/simulated_server.h"

namespace pbs::simulate {

// A connection of the program.
struct ProgramSession {
    // A request that is answered later, when there are changes or simulated time has come so far.
    struct Wait {
        Instant until{};
        std::int64_t version = 0;  // of the last change that the program knows
        std::string sched{};
        bool for_record = false;  // asks for a record, else for changes
    };
    std::optional<Wait> wait{};
    bool schedules = false;  // has registered, or asked for changes
    // The version (the number of the last change) at which the program was told that nothing is new, and the
    // version at which it got a record. If it asks again at the same version, it waits for a second.
    std::optional<std::int64_t> polled{};
    std::optional<std::int64_t> recorded{};
};

class ProgramRequests {
  public:
    // Answers a request: returns the packets of the reply, perhaps none. If the request has to wait, sets
    // session.wait.
    std::vector<std::string> answer(SimulatedServer& server, ProgramSession& session,
                                    const ifl::Request& request);
    // Ends the session's wait: returns the packets of the reply.
    static std::vector<std::string> end_wait(SimulatedServer& server, ProgramSession& session);
    // Forgets the session, whose connection has ended.
    void forget(const ProgramSession& session);

  private:
    std::vector<std::string> answer_status(SimulatedServer& server, ProgramSession& session,
                                           const ifl::Request& request);
    ifl::Reply register_scheduler(const SimulatedServer& server, ProgramSession& session,
                                  const std::string& sched, bool plain);

    struct Registration {
        const ProgramSession* session;
        Instant since;
    };
    std::map<std::string, Registration> registered_;  // by scheduler
};

}  // namespace pbs::simulate

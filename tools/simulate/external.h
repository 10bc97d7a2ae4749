// Lets a program of the site schedule a simulation (--external): starts it, and answers its requests over the
// batch protocol as a server does, on a Unix socket in a temporary folder.
//
// Simulated time stands still while the program works. It goes on when the program waits for changes
// (pbs_statchanges) and there are none: then to the next event of the trace, or to the end of the wait. A
// program that doesn't wait, but asks again for what it has been told, waits for a second of simulated time.
#pragma once

#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "ifl/request.h"
#include "tools/simulate/program.h"
#include "tools/simulate/program_requests.h"
#include "tools/simulate/simulated_server.h"
#include "values/fd.h"
#include "values/temporary_folder.h"

namespace pbs::simulate {

// Holds SIGINT, SIGTERM and SIGHUP back from this thread and from threads that it makes meanwhile. A process
// that one of them ends leaves programs and folders behind.
class HeldSignals {
  public:
    HeldSignals();
    // Lets the signals that wait take effect, unless another object holds them.
    ~HeldSignals();
    HeldSignals(const HeldSignals&) = delete;
    HeldSignals& operator=(const HeldSignals&) = delete;

  private:
    sigset_t before_{};
};

struct ExternalOptions {
    std::string command;                // for /bin/sh
    std::chrono::seconds patience{60};  // real time for which the program may do nothing
    Seconds interval{1};                // the shortest simulated time between two ends of waits
    std::stop_token stop{};             // ends turn() with an error
};

class ExternalScheduler {
  public:
    // Starts the program. Errors: no folder or socket can be made, or the program can't be started.
    static Result<ExternalScheduler> start(ExternalOptions options);
    ExternalScheduler(ExternalScheduler&&) = default;
    ExternalScheduler& operator=(ExternalScheduler&&) = delete;
    // Ends the program.
    ~ExternalScheduler();

    // Gives the program a turn at the server's present time: ends its wait if there are changes or its time
    // is over, and answers its requests until it waits again. Errors, which name the program: it has ended
    // though there are jobs to be started; it has done nothing for too long; SIGINT, SIGTERM or SIGHUP came;
    // a stop.
    Result<void> turn(SimulatedServer& server);
    // When the program wants its next turn if nothing happens before; Instant::max(): it has ended.
    Instant next_turn(const SimulatedServer& server) const;
    // The number of turns in which the program did something: the first, and each end of a wait.
    std::int64_t turns() const { return turns_; }

  private:
    using Clock = std::chrono::steady_clock;
    struct Client {
        explicit Client(int fd) : socket(fd) {}
        values::Fd socket;
        ifl::RequestDecoder requests{};
        std::string out{};    // bytes to be sent
        bool closes = false;  // the connection ends when these are sent
        ProgramSession session{};
    };

    ExternalScheduler(ExternalOptions options, std::unique_ptr<HeldSignals> held,
                      values::TemporaryFolder folder, values::Fd listener, values::Fd signals,
                      Program program);

    bool is_due(const SimulatedServer& server, const ProgramSession& session) const;
    void end_waits(SimulatedServer& server);
    void serve(SimulatedServer& server, Client& client);
    static void take(Client& client, const std::vector<std::string>& packets);
    static bool has_room(const Client& client);
    static void send(Client& client);
    static bool receive(Client& client);
    void accept_all();
    void drop_closed();
    Result<void> wait_for_requests();
    bool waits() const;
    Result<void> check_patience(SimulatedServer& server) const;
    std::string named(SimulatedServer& server, const std::string& what) const;

    ExternalOptions options_;
    std::unique_ptr<HeldSignals> held_;  // until the program and the folder are gone
    values::TemporaryFolder folder_;     // of the socket
    values::Fd listener_;
    values::Fd signals_;
    std::list<Client> clients_;
    ProgramRequests requests_;
    Program program_;
    bool gone_ = false;  // the program has ended, and so have its connections
    Instant last_turn_ = Instant::min();
    std::int64_t turns_ = 0;
    std::size_t progress_ = 0;      // SimulatedServer::progress() at the time `advanced_`
    Clock::time_point advanced_{};  // real time at which simulated time, or a job, went on
    Clock::time_point asked_{};     // real time of the last request
};

}  // namespace pbs::simulate

// The functions that pbs_server.bin calls in place of libpbs's: requests about our objects are answered by
// the policy service, with the identity that the server has established; all others are the server's as ever.
//
// How a request gets to us past the server's authentication, without a look into its memory: the request is
// read from the connection here, and libpbs's decoder is given another one to decode, a *probe*, which the
// server authenticates, judges and answers; its answer is taken before it is sent and says who asks:
//
//   - Creating an object of a type that the server doesn't know (64): 15004 for managers, 15007 for anybody
//     else. (Answers to SET and UNSET don't tell: operators get 15004 for these.)
//   - Setting one: 15004 for managers and operators.
//   - A status request about schedulers: success for everybody.
//
// A request with the server's attributes and ours goes in three rounds: the probe; the service is asked what
// it would say to ours; then the server is given its own part, and if that succeeds ours is committed. In
// between the client waits: the server is made to look at the connection again by an event that we add to
// those that it waits for, and reads what was kept here. One such request is on its way at a time, so what
// the service has checked still holds when it is told to do it.
//
// The service is waited for some milliseconds; what takes longer is sent when it comes.
#pragma once

#include <sys/epoll.h>
#include <sys/types.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ifl/reply.h"
#include "ifl/request.h"
#include "server_plugin/openpbs/library.h"
#include "server_plugin/openpbs/link.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::openpbs {

struct ShimOptions {
    std::chrono::milliseconds patience{20};       // with the service while the server waits
    std::chrono::seconds time_limit{30};          // for a request, until its client is told
    std::function<void(const std::string&)> log;  // a line to the server's log
    std::string attachment;                       // since when the server has the plugin, and how
};

class Shim {
  public:
    Shim(const Library& library, Link& link, ShimOptions options);

    // Replace libpbs's functions of these names. Only the server's main thread calls them.
    int decode_header(int sock, void* request, int* type, int* version);
    int decode_manage(int sock, void* request);
    int decode_status(int sock, void* request);
    int decode_extend(int sock, void* request);
    int encode_reply(int sock, void* reply);
    int wait(int epoll, epoll_event* events, int most, int timeout, const sigset_t* signals);

  private:
    using Clock = Link::Clock;
    // A connection. Its descriptor may be another connection's later.
    struct Connection {
        int sock = -1;
        ino_t inode = 0;
        bool operator==(const Connection&) const = default;
    };
    enum class Step : std::uint8_t {
        probing,    // its probe is with the server
        turn,       // waits until no other shared request is on its way
        checking,   // the service is asked whether it would do its part
        server,     // the server is to do its part
        proving,    // a status request for operators: its requester is to be found out
        answering,  // the service is asked for the answer
        sending     // the answer is being sent
    };
    // A request that is ours, or has attributes of ours in it, until it is answered.
    struct Held {
        Connection connection;
        ifl::Request request;        // with the attributes that are ours
        RawAttributes servers_part;  // the server's attributes
        bool shared = false;         // the server has a part in it
        std::string address;         // the client's address
        Step step = Step::probing;
        std::uint64_t ticket = 0;
        Clock::time_point deadline{};
        std::string server_reply;  // the server's reply to its part
        std::deque<std::string> answer;
    };
    // The way of the request that the server is working on.
    enum class Course : std::uint8_t {
        pass,     // the server's own: left alone
        probe,    // the probe of a held request
        again,    // a probe likewise, but the held request has to wait longer
        server,   // the server's part of a held request
        prove,    // a held status request's probe for operators
        listing,  // a status request to whose answer ours is added
        settle    // a Manager request that the service is told of if it succeeds
    };
    // An extend string, which follows a request's body, as it was read from the connection.
    struct Extend {
        bool present = false;
        std::string text;
    };
    struct Current {
        Connection connection;
        unsigned long type = 0;
        std::string user;
        Course course = Course::pass;
        std::optional<Extend> extend;          // in place of what is on the connection
        std::vector<std::string> wanted;       // listing: names of ours that are asked for
        bool all_wanted = true;                // listing: no names at all are given
        bool servers_wanted = true;            // listing: some of the server's are asked for
        RawAttributes servers_own{};           // listing: their names, where the server is asked for all
        ifl::Manage body;                      // settle
        std::optional<std::string> refusal{};  // settle: to say in place of 15004
        std::string warning;                   // settle: to say if the plugin schedules
        std::uint32_t object_type = 0;         // listing
    };

    Connection connection_of(int sock) const;
    bool is_schedulers(const Connection& connection) const;
    Held* held(int sock);

    int decode_header_again(Held& held, void* request, int* type, int* version);
    int feed_header(unsigned long type, void* request, int* type_out, int* version_out);
    int feed_manage(int sock, void* request, unsigned long command, unsigned long object_type,
                    std::string_view object, const RawAttributes& attributes);
    int probe(int sock, void* request, unsigned long command);
    int classify(int sock, void* request, ifl::Manage body, RawAttributes attributes);
    int hold(int sock, ifl::Request request);
    // Does the service say that the plugin schedules for it? Empty: `default`.
    bool plugin_schedules(const std::string& sched) const {
        const auto shown = shown_.find({PBS_OBJ_SCHED, sched.empty() ? "default" : sched});
        return shown != shown_.end() && std::ranges::any_of(shown->second, [](const ifl::Attribute& one) {
                   return one.name == "scheduled_by" && one.value == "pbs_policy";
               });
    }
    int before_delete(int sock, void* request, const ifl::Manage& body, const RawAttributes& attributes);
    int hold_status(int sock, void* request, const std::string& name, const RawAttributes& wanted);

    int after_probe(Held& held, const std::string& reply);
    int after_server(Held& held, const std::string& reply);
    int after_proof(Held& held, const std::string& reply);
    int after_settled(int sock, const std::string& reply);
    int after_listing(int sock, const std::string& reply);
    bool add_shown(ifl::ObjectStatus& object) const;
    int forward(int sock, const std::string& reply);

    void ask(Held& held, Ask::What what, std::uint32_t privilege);
    // Waits for the service's answer, for at most the patience.
    void await(const Connection& connection);
    void take(std::vector<FromService> messages);
    void answered(Held& held, std::vector<std::string> parts);
    void refuse(Held& held, const std::string& why);
    // Puts the answer out if it is there and short; a caller further up flushes it. Else it is sent later.
    int reply_now(Held& held);
    void send_answers();
    void end(const Connection& connection);
    void release_turn(const Connection& connection);
    void look_after_held();
    void look_after_link();
    bool next_event(epoll_event& event);
    int next_timeout(int timeout) const;

    Library library_;
    Link& link_;
    ShimOptions options_;
    Current current_;
    std::map<int, Held> held_;
    std::optional<Connection> turn_;  // the shared request that is on its way
    std::uint64_t last_ticket_ = 0;
    std::set<std::pair<int, ino_t>> schedulers_;  // connections of schedulers
    std::map<std::pair<std::uint32_t, std::string>, ifl::Attributes> shown_;
    // Answer to request last_ticket_, which isn't held.
    std::optional<std::vector<std::string>> other_answer_;
    bool event_before_ = false;  // the last wait returned an event of ours
    bool silent_told_ = false;
};

}  // namespace pbs::openpbs

// The shim: the functions that pbs_server.bin calls in place of libpbs's. Requests about the plugin's objects
// are answered by the policy service, for the identity that the server has established. All other requests
// are answered by the server.
//
// The shim learns the client's identity without reading the server's memory. It reads the request from the
// connection, and gives libpbs's decoder another request in its place, a *probe*. The server authenticates
// the client, and answers the probe; the shim takes this answer before it is sent. The answer shows who the
// client is:
//
//   - A request to create an object of a type that the server doesn't know (64): 15004 for managers, 15007
//     for anybody else. (Requests to set or unset don't show this: operators get 15004, too.)
//   - A request to set such an object: 15004 for managers and operators.
//   - A status request about schedulers: the server answers everybody.
//
// A request with attributes both of the server and of the plugin has three rounds. The server answers the
// probe; the service says whether it would accept the plugin's part; then the server does its own part, and
// if that succeeds, the plugin's part is committed. The client waits meanwhile. To make the server read from
// the connection again, the shim adds an event to those that the server waits for; the decoder then reads the
// request from the shim's copy. Only one such request is in progress at a time, so that the result of the
// check still holds at the commit.
//
// A start that the policy's filters are to test ("check=True") has rounds, too: a probe; the service's test,
// whose answer names the place; and the start itself, which the server gets with that place and without the
// extend string. The server may answer the start later, while it works on other requests.
//
// The server waits for the service for at most 20 milliseconds. A later answer is sent when it comes.
//
// A program that has registered as a scheduler keeps its connection. When the connection is closed, the shim
// gives up the registration's ticket. If the service was started anew, the shim registers the program again,
// and asks again for the changes that the program waits for.
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
    std::chrono::milliseconds patience{20};       // the longest wait for the service's answer
    std::chrono::seconds time_limit{30};          // after it, the client of a request gets an error
    std::function<void(const std::string&)> log;  // writes a line to the server's log
    std::string attachment;                       // since when, and how, the plugin is attached
};

class Shim {
  public:
    Shim(const Library& library, Link& link, ShimOptions options);

    // These functions replace libpbs's functions of similar names. Only the server's main thread calls them.
    int decode_header(int sock, void* request, int* type, int* version);
    int decode_manage(int sock, void* request);
    int decode_status(int sock, void* request);
    int decode_run(int sock, void* request);
    int decode_extend(int sock, void* request);
    int encode_reply(int sock, void* reply);
    int wait(int epoll, epoll_event* events, int most, int timeout, const sigset_t* signals);

  private:
    using Clock = Link::Clock;
    // A client's connection. Another connection may have the same descriptor later, but not the same inode.
    struct Connection {
        int sock = -1;
        ino_t inode = 0;
        bool operator==(const Connection&) const = default;
    };
    enum class Step : std::uint8_t {
        probing,    // the server answers the request's probe
        turn,       // the request waits until no other shared request is in progress
        checking,   // the service checks the plugin's part
        server,     // the server is to do its part next
        starting,   // the server starts a job that the service has tested
        proving,    // the request's second probe shows whether its client may see everything
        answering,  // the service makes the answer
        sending     // the answer is being sent
    };
    // A held request: one about the plugin's objects, or with attributes of the plugin, until it is answered.
    struct Held {
        Connection connection;
        ifl::Request request;        // without the server's attributes
        RawAttributes servers_part;  // the server's attributes
        bool shared = false;         // the server does a part of the request
        std::string address;         // the client's address
        Step step = Step::probing;
        std::uint64_t ticket = 0;
        Clock::time_point deadline{};
        std::string server_reply;  // the server's reply to its part
        std::deque<std::string> answer;

        bool is_start() const { return std::holds_alternative<ifl::RunJob>(request.body); }
        // Returns whether the client reads a reply to this request.
        bool wants_reply() const { return request.type != ifl::RequestType::async_run_job; }
        bool waits_for_changes() const;
        Ask question(Ask::Kind what, std::uint32_t privilege) const;
    };
    // The treatment of the request that the server is reading at present.
    enum class Course : std::uint8_t {
        pass,     // a request for the server alone
        probe,    // the probe in place of a held request
        again,    // another probe, since the held request has to wait longer
        server,   // the server's part of a held request
        prove,    // the second probe of a held status request, which only operators or managers pass
        listing,  // a status request: the plugin's attributes are added to the reply
        settle    // a Manager request: it is reported to the service if it succeeds
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
        std::optional<Extend> extend;          // in place of the extend string on the connection
        std::vector<std::string> wanted;       // listing: the requested attributes of the plugin, by name
        bool all_wanted = true;                // listing: no attributes are named, so all are requested
        bool servers_wanted = true;            // listing: attributes of the server are requested, too
        RawAttributes servers_own{};           // listing: the server's attributes to show; empty: all
        ifl::Manage body;                      // settle: the request
        std::optional<std::string> refusal{};  // settle: the text to reply in place of error 15004
        std::string warning;                   // settle: a text to add if the plugin schedules
        std::uint32_t object_type = 0;         // listing: the type of the listed objects
        std::optional<ifl::RunJob> run{};      // a start, in place of the one on the connection
    };
    // The registrations of a connection as schedulers, which have one ticket.
    struct Registered {
        Connection connection;
        std::uint64_t ticket = 0;
        std::vector<Ask> requests{};
    };

    Connection connection_of(int sock) const;
    // Returns whether the server is working on a request of this connection.
    bool is_current(int sock) const { return library_.on_connection() && current_.connection.sock == sock; }
    bool is_schedulers(const Connection& connection) const;
    Held* held(int sock);

    int decode_header_again(Held& held, void* request, int* type, int* version);
    int feed_header(unsigned long type, void* request, int* type_out, int* version_out);
    int feed_manage(int sock, void* request, unsigned long command, unsigned long object_type,
                    std::string_view object, const RawAttributes& attributes);
    int feed_status(int sock, void* request, std::string_view name, const RawAttributes& wanted);
    int probe(int sock, void* request, unsigned long command);
    int classify(int sock, void* request, ifl::Manage body, RawAttributes attributes);
    int hold(int sock, ifl::Request request);
    // Returns whether the plugin schedules for `sched`, as the service has said. An empty name means
    // `default`.
    bool plugin_schedules(const std::string& sched) const {
        const auto shown = shown_.find({PBS_OBJ_SCHED, sched.empty() ? "default" : sched});
        return shown != shown_.end() && std::ranges::any_of(shown->second, [](const ifl::Attribute& one) {
                   return one.name == "scheduled_by" && one.value == "pbs_policy";
               });
    }
    int before_delete(int sock, void* request, const ifl::Manage& body, const RawAttributes& attributes);
    int hold_status(int sock, void* request, const std::string& name, const RawAttributes& wanted);
    int read_start(int sock);
    Held* starting(int sock);

    int after_probe(Held& held, const std::string& reply);
    int after_server(Held& held, const std::string& reply);
    int after_start(Held& held, const std::string& reply);
    int after_proof(Held& held, const std::string& reply);
    int after_settled(int sock, const std::string& reply);
    int after_listing(int sock, const std::string& reply);
    bool add_shown(ifl::ObjectStatus& object) const;
    int forward(int sock, const std::string& reply);

    void ask(Held& held, Ask::Kind what, std::uint32_t privilege);
    // Ends a wait for changes as its timeout would, because the client has sent more: until an answer is sent
    // the server would call decode_header() for it all the time.
    void end_wait(Held& held);
    std::uint64_t ticket_for(const Held& held);
    void note_registration(const Held& held);
    // Asks the service about a change that the current user requests. The question belongs to no held
    // request.
    void ask_apart(int sock, Ask::Kind what, ifl::Manage body);
    // Waits for the service's answer, at most for options_.patience. Sends the reply if the answer has come.
    int await(const Connection& connection);
    void take(std::vector<FromService> messages);
    void answered(Held& held, std::vector<std::string> parts);
    void refuse(Held& held, const std::string& why);
    // Writes the answer to the connection if it has come and is short; the caller of decode_extend() or
    // encode_reply() flushes the connection. Otherwise the answer is sent later.
    int reply_now(Held& held);
    void send_answers();
    void end(const Connection& connection);
    // Tells the service that nobody waits for its answer, or that the start that it has granted won't come
    // about.
    void abandon(const Held& held);
    void release_turn(const Connection& connection);
    void look_after_held();
    void look_after_link();
    // Refuses the requests that the service was working on when the connection to it was lost.
    void refuse_under_way();
    void look_after_registered();
    bool next_event(epoll_event& event);
    int next_timeout(int timeout) const;

    Library library_;
    Link& link_;
    ShimOptions options_;
    Current current_;
    std::map<int, Held> held_;
    std::optional<Connection> turn_;  // connection of the shared request in progress; none: there is none
    std::uint64_t last_ticket_ = 0;
    std::set<std::pair<int, ino_t>> schedulers_;  // connections of schedulers
    std::vector<Registered> registered_;          // connections of programs that schedule
    std::map<std::pair<std::uint32_t, std::string>, ifl::Attributes> shown_;
    // The service's answer to the request last_ticket_, which belongs to no held request.
    std::optional<std::vector<std::string>> other_answer_;
    bool event_before_ = false;  // the last wait() returned an event of the shim
    bool silent_told_ = false;
};

}  // namespace pbs::openpbs

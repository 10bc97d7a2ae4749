// A connection to another server, over which requests are sent without waiting for their replies. A Connector
// makes it. A reply comes later, or never.
#pragma once

#include <uv.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "ifl/exchange.h"
#include "server_plugin/host/change/server.h"
#include "server_plugin/host/peers/connector.h"

namespace pbs::host {

// Returns the reason for another server's refusal: the reply's text, or the usual text of its code.
std::string text_of(const ifl::Reply& reply);

// Returns the pause before another server is asked again: `first` after the first failure in a row, twice as
// long after each further one, `longest` at most. `failures`: the number of failures before this one.
std::chrono::seconds pause_after_failure(int failures, std::chrono::seconds first,
                                         std::chrono::seconds longest);

class PeerLink : public std::enable_shared_from_this<PeerLink> {
  public:
    using Steady = std::chrono::steady_clock;
    using Done = ifl::Exchange::Done;

    // Begins to connect. If that fails, returns a closed link. `patience`: look() closes the link if a reply
    // is awaited and nothing has come for this time.
    static std::shared_ptr<PeerLink> open(uv_loop_t* loop, Server& server, const ServerName& to,
                                          std::chrono::seconds patience);
    ~PeerLink();
    PeerLink(const PeerLink&) = delete;
    PeerLink& operator=(const PeerLink&) = delete;

    bool closed() const { return closed_; }
    const std::string& why_closed() const { return why_; }
    // The numeric address of the other server; empty until there is a connection.
    const std::string& address() const { return address_; }
    bool idle() const { return closed_ || (waiting_.empty() && connected() && exchange_->unanswered() == 0); }

    // Sends a request when there is a connection. Calls `done` once, with the reply or an error, perhaps
    // before this function returns.
    void ask(ifl::RequestType type, ifl::RequestBody body, Done done, ifl::ObjectSink sink = {});
    // Closes the link if nothing has come for longer than the link's patience.
    void look(Steady::time_point now);
    // Closes the link for good. Pending requests get an error with the reason `why`.
    void close(const std::string& why);

  private:
    struct Waiting {
        ifl::RequestType type;
        ifl::RequestBody body;
        Done done;
        ifl::ObjectSink sink;
    };
    PeerLink(uv_loop_t* loop, Server& server, ServerName to, std::chrono::seconds patience);
    bool connected() const { return exchange_ != nullptr; }
    void watch(int fd, int events);
    void unwatch();
    void take_connection();
    void work();
    void end_connector();

    uv_loop_t* loop_;
    Server& server_;
    ServerName to_;
    std::chrono::seconds patience_;
    Steady::time_point heard_ = Steady::now();
    std::optional<Connector> connector_;
    std::unique_ptr<ifl::Exchange> exchange_;
    std::vector<Waiting> waiting_;  // requests that wait for the connection
    uv_poll_t* poll_ = nullptr;     // its close callback frees it
    bool closed_ = false;
    std::string why_;
    std::string address_;
};

}  // namespace pbs::host

// The requests that the server answers. requests.cc lists their handlers.
//
// In the folder requests/, begin_answer() finds the handler of a request, checks the requester (access.h),
// and calls the handler with a Context, which has the server, the requester and the time. A handler checks
// the request, makes a Change, and returns the reply. A handler whose work takes long does it in Steps;
// in_slices.h is for Manager requests. common.h has functions that several handlers need.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "ifl/reply.h"
#include "ifl/request.h"
#include "server_plugin/client/registrations.h"
#include "server_plugin/host/change/server.h"
#include "server_plugin/host/state/identity.h"

namespace pbs::host {

// A job that is being submitted on a connection, from QueueJob to Commit.
struct Submission {
    Job job;
    std::string script;
    // The second and the setup in which fit_to_queue() found that the queue takes the job. A Commit in the
    // same second and setup needn't check that again.
    struct Fitted {
        int64_t at;
        uint64_t setup;  // State::setup()
    };
    std::optional<Fitted> fitted;
    // Set only for a job that another server hands in. arrival: the number of this hand-in
    // (Server::arriving). hops: the number of servers that have had the job.
    uint64_t arrival = 0;
    int64_t hops = 0;
};

// The data about a connection that the server keeps between its requests.
struct Session {
    std::optional<Submission> submission;
    std::string address;  // numeric address of a client over TCP
    std::string from;     // for the log: "uid 1000 on the Unix socket"
    // The registrations on this connection, by scheduler, which end with the connection.
    std::map<std::string, client::Registrations::Held> registered{};
};

struct Context;

// Does the work on a request that is left after its handler has returned. The work is done in steps, so that
// other clients have turns in between, and so that memory holds only as much of a long reply as its reader
// takes at a time. The server's objects may change between two steps.
class Steps {
  public:
    enum class Remaining {
        nothing,
        more,
        later  // step() has to wait for something: call it again in a few milliseconds
    };
    Steps() = default;
    Steps(const Steps&) = delete;
    Steps& operator=(const Steps&) = delete;
    virtual ~Steps() = default;

    // Does a step, which takes a few milliseconds at most. Adds the next parts of a status reply to `out`.
    // `context` is the request's.
    virtual Remaining step(Context& context, ifl::StatusParts& out) = 0;
    // Returns the reply, if no step has added parts to `out`. Called once, after step() has returned
    // Remaining::nothing.
    virtual ifl::Reply reply();
    // Call it after step() has returned Remaining::later. Returns whether step() would still have nothing to
    // do before the plugin's next change, or for some time. Must be cheap. While the result is true, the
    // server checks whether the client has gone.
    virtual bool waits() const { return false; }
    // Returns the memory in bytes that these steps reserve until their end.
    virtual std::size_t size() const { return 0; }
};

// Steps whose reply isn't made in parts: one reply, at their end.
class Answered : public Steps {
  public:
    ifl::Reply reply() override { return std::move(reply_); }

  protected:
    // Sets the reply, and returns the value by which step() ends the steps.
    Remaining end(ifl::Reply reply) {
        reply_ = std::move(reply);
        return Remaining::nothing;
    }

    ifl::Reply reply_ = ifl::Reply::ok();
};

struct Context {
    Server& server;
    const Identity& who;
    int64_t now;  // the time of the request; in a step, which may come long after it, that of the step
    const ifl::Request& request;
    Session& session;
    // An action to run after the plugin's commit. Handlers set it if the plugin still has to commit their
    // change.
    std::function<void()> when_committed{};
    // The steps that complete the answer. If a handler sets them, its returned value isn't a reply.
    std::unique_ptr<Steps> rest{};
    // The number by which the plugin knows a request that waits for one of the plugin's threads
    // (Plugin::manager); 0: the request can't wait.
    uint64_t ticket = 0;

    const State& state() const { return server.state; }
};

using Handler = ifl::Reply (*)(Context& context);

struct RequestHandler {
    ifl::RequestType type;
    Handler handle;
};

// Returns all handlers, in the order of the numbers of their requests.
std::span<const RequestHandler> request_handlers();

// Finds the handler of the request and calls it. PBSE_UNKREQ: PBS has no such request. PBSE_NOSUP: PBS has
// it, but this server doesn't support it. Before that, refuses a requester who may not use the server
// (may_use, access.h). Logs refusals for want of rights. Never throws.
//
// If Context::rest is set afterwards, the caller has to call go_on() until nothing is left; go_on() then
// makes the reply. If Plugin::uncommitted() is true afterwards, the caller has to call the plugin's commit().
// Only if that succeeds, the caller uses the reply and Context::when_committed.
ifl::Reply begin_answer(Context& context);
// Does the next step of Context::rest. After Remaining::nothing, `reply` is set if no step has added parts to
// `out`. `shown`: earlier steps have added parts. An exception becomes an error reply.
Steps::Remaining go_on(Context& context, ifl::StatusParts& out, bool shown, std::optional<ifl::Reply>& reply);

// Returns whether the request is a part of a submission that can share its commit with others (CommitGroup).
bool may_share_commit(const ifl::Request& request, const Session& session);

// The handlers of the requests.
ifl::Reply queue_job(Context& context);
ifl::Reply receive_job(Context& context);  // for a queue_job request that has a job id
ifl::Reply job_script(Context& context);
ifl::Reply ready_to_commit(Context& context);
ifl::Reply commit_job(Context& context);
ifl::Reply delete_job(Context& context);
ifl::Reply delete_job_list(Context& context);
ifl::Reply hold_job(Context& context);
ifl::Reply locate_job(Context& context);
ifl::Reply manager(Context& context);
ifl::Reply message_job(Context& context);
ifl::Reply modify_job(Context& context);
ifl::Reply move_job(Context& context);
ifl::Reply order_job(Context& context);
ifl::Reply release_job(Context& context);
ifl::Reply rerun_job(Context& context);
ifl::Reply run_job(Context& context);
ifl::Reply select_jobs(Context& context);
ifl::Reply shutdown(Context& context);
ifl::Reply signal_job(Context& context);
ifl::Reply status_job(Context& context);
ifl::Reply status_queue(Context& context);
ifl::Reply status_server(Context& context);
ifl::Reply status_node(Context& context);
ifl::Reply status_scheduler(Context& context);
ifl::Reply status_resource(Context& context);
ifl::Reply submit_reservation(Context& context);
ifl::Reply confirm_reservation(Context& context);
ifl::Reply status_reservation(Context& context);
ifl::Reply delete_reservation(Context& context);
ifl::Reply modify_reservation(Context& context);
ifl::Reply status_nothing(Context& context);

}  // namespace pbs::host

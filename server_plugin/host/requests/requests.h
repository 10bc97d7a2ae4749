// The requests that the server answers: one handler a file, all of them in the list in requests.cc.
//
// The room requests/: answer() finds the row of a request, checks who asks (access.h), and calls its handler
// with a Context, which has the server, who asks, and the time. A handler checks, makes a Change, and returns
// the reply; one that takes long goes on in steps (in_slices.h). common.h has what several of them need.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "ifl/reply.h"
#include "ifl/request.h"
#include "server_plugin/host/change/server.h"
#include "server_plugin/host/state/identity.h"

namespace pbs::host {

// A job on its way in: between QueueJob and Commit on one connection.
struct Submission {
    Job job;
    std::string script;
    // The job is as its queue wanted it (fit_to_queue) at that second and of that setup (State::setup).
    struct Fitted {
        int64_t at;
        uint64_t setup;
    };
    std::optional<Fitted> fitted;
    // Of a job that another server hands in: which handing in of it this is (Server::arriving), and how many
    // servers had it before.
    uint64_t arrival = 0;
    int64_t hops = 0;
};

// What the server remembers of a connection between its requests.
struct Session {
    std::optional<Submission> submission;
    std::string address;  // where a connection over TCP comes from, numeric
    std::string from;     // where the connection comes from, for the log: "uid 1000 on the Unix socket"
};

struct Context;

// What is left to do of a request when its handler has returned, in steps: so that others have their turns in
// between, and that no more of a long reply is in memory than its reader takes. What the server has may
// change between two steps.
class Steps {
  public:
    enum class Left {
        nothing,
        more,
        later  // something else has to happen first: try again in some milliseconds
    };
    Steps() = default;
    Steps(const Steps&) = delete;
    Steps& operator=(const Steps&) = delete;
    virtual ~Steps() = default;

    // A step, of a few milliseconds at most. What it puts into `out` are objects of the reply, a status reply
    // then. The context is that of the request.
    virtual Left step(Context& context, ifl::StatusParts& out) = 0;
    // The reply, if no step has put anything into it; called once, when nothing is left.
    virtual ifl::Reply reply();
    // Bytes that it keeps until its end.
    virtual std::size_t size() const { return 0; }
};

// Steps that come to one reply.
class Answered : public Steps {
  public:
    ifl::Reply reply() override { return std::move(reply_); }

  protected:
    // That is it, and nothing is left.
    Left end(ifl::Reply reply) {
        reply_ = std::move(reply);
        return Left::nothing;
    }

    ifl::Reply reply_ = ifl::Reply::ok();
};

struct Context {
    Server& server;
    const Identity& who;
    int64_t now;
    const ifl::Request& request;
    Session& session;
    // Set by a handler whose change the plugin has yet to commit: what is to be done once it has.
    std::function<void()> when_committed{};
    // Set by a handler that leaves something to be done in steps: what it returned is no reply then.
    std::unique_ptr<Steps> rest{};
    // Of a request that can wait for what the plugin does in a thread (Plugin::manager); 0: it can't.
    uint64_t ticket = 0;

    const State& state() const { return server.state; }
};

using Handler = ifl::Reply (*)(Context& context);

struct RequestHandler {
    ifl::RequestType type;
    Handler handle;
};

// All handlers, in the order of the request's numbers.
std::span<const RequestHandler> request_handlers();

// Finds the handler and calls it. A type without one is PBSE_UNKREQ; some that PBS knows and this server
// doesn't do are PBSE_NOSUP. One who may not use
// the server at all (may_use, access.h) is refused before. What is refused for want of rights is logged.
// Nothing is thrown.
//
// If Context::rest is set afterwards, the reply is yet to be made, by the caller: with go_on() until nothing
// is left. If Plugin::uncommitted() holds afterwards, the plugin's commit is the caller's too, and the reply
// and Context::when_committed are for when it has succeeded.
ifl::Reply begin_answer(Context& context);
// The next step of Context::rest. With Left::nothing, `reply` is set if that is the reply: nothing has been
// put into `out` by any of the steps (`shown` says so of those before). An exception is an error's reply.
Steps::Left go_on(Context& context, ifl::StatusParts& out, bool shown, std::optional<ifl::Reply>& reply);
// Begins, does all that is left, and commits.
ifl::Reply answer(Context& context);

// Is it a part of a submission that can share its commit with others (CommitGroup)?
bool may_share_commit(const ifl::Request& request, const Session& session);

// The handlers.
ifl::Reply queue_job(Context& context);
ifl::Reply receive_job(Context& context);  // a queue_job with a job's id
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

// Answers requests without a loop of events.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <utility>

#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/requests/requests.h"

namespace pbs::host {

// Begins the answer, does all its steps, and commits. Calls wait() whenever a step has to wait, or sleeps for
// a millisecond if `wait` is empty.
inline ifl::Reply answer(Context& context, const std::function<void()>& wait = {}) {
    ifl::Reply reply = begin_answer(context);
    if (context.rest != nullptr) {
        ifl::StatusParts parts;
        std::optional<ifl::Reply> instead;
        for (auto left = Steps::Remaining::more; left != Steps::Remaining::nothing;) {
            left = go_on(context, parts, false, instead);
            if (left != Steps::Remaining::later) continue;
            if (wait)
                wait();
            else
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        if (instead) return std::move(*instead);
        reply.body = ifl::StatusReply{{}, parts.take()};
        return reply;
    }
    Plugin* plugin = context.server.parts.plugin;
    if (plugin != nullptr && plugin->uncommitted())
        if (auto done = plugin->commit(context.now); !done)
            return ifl::Reply::error(done.error().code, done.error().message);
    if (const auto then = std::exchange(context.when_committed, {}); then && reply.code == 0) then();
    return reply;
}

}  // namespace pbs::host

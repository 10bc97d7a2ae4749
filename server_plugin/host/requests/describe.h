// Objects as status replies show them.
#ifndef PBSPOLICY_HOST_REQUESTS_DESCRIBE_H
#define PBSPOLICY_HOST_REQUESTS_DESCRIBE_H

#include <optional>
#include <string>

#include "server_plugin/host/requests/requests.h"

namespace pbs::host {

// Which attributes a status request asks for, by whom.
struct View {
    const ifl::Attributes& wanted;  // none: all
    uint32_t rights;                // read flags of AttributeFlag
    bool wants(std::string_view name) const;
};

// An attribute that isn't known to the type: PBSE_NOATTR as a reply; nullopt if all are known.
std::optional<ifl::Reply> unknown_attribute(const Context& context, int object_type,
                                            const ifl::Attributes& wanted);

ifl::Attributes describe(const Job& job, const State& state, int64_t now, const View& view);
ifl::Attributes describe(const Queue& queue, Context& context, const View& view);
ifl::Attributes describe(const Node& node, Context& context, const View& view);
ifl::Attributes describe(const Sched& sched, Context& context, const View& view);
ifl::Attributes describe_server(Context& context, const View& view);

// The state of a vnode as pbsnodes shows it: "free", "job-busy", "offline", "down", ..., comma-separated.
std::string node_state_text(const Node& node, const State& state);

}  // namespace pbs::host

#endif

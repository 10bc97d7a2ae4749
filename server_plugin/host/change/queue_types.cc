#include "server_plugin/host/change/queue_types.h"

#include <fmt/format.h>

#include <vector>

#include "server_plugin/host/base/log.h"
#include "server_plugin/host/change/change.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

// A change of a queue's execution_type from one value, such as execution_prime, to another. An empty text
// means any time.
struct QueueTime {
    std::string queue;
    std::string from;
    std::string to;
};

std::vector<QueueTime> wanted(Server& server) {
    const ifl::Reply reply = server.parts.plugin->status(server.now(), PBS_OBJ_CONFIGURATION, {}, {},
                                                         server.identity(), "part=queue_types");
    std::vector<QueueTime> out;
    const auto* status = std::get_if<ifl::StatusReply>(&reply.body);
    if (status == nullptr) return out;
    for (const ifl::ObjectStatus& object : status->objects) {
        QueueTime time{object.name, {}, {}};
        for (const ifl::Attribute& attribute : object.attributes)
            (attribute.name == "from" ? time.from : time.to) = attribute.value;
        out.push_back(std::move(time));
    }
    return out;
}

// Returns the queue's execution_type. The value "execution" means any time, and is returned as an empty text.
std::string_view execution_type(const Queue& queue) {
    const std::string_view type = queue.attributes.text("execution_type");
    return type == "execution" ? std::string_view{} : type;
}

void set_type(Queue& queue, const std::string& type) {
    const AttributeDef& def = *queue_table().find("execution_type");
    if (type.empty()) {
        queue.attributes.unset(def, {});
    } else {
        queue.attributes.set(def, {}, type);
    }
}

// Sets the execution_type of a queue, and adds the change to the history.
Result<void> change_type(Server& server, const Queue& queue, const QueueTime& time) {
    Change change(server, server.now());
    set_type(change.queue(queue), time.to);
    change.want_cycle(PBS_SCH_CONFIGURE);
    const std::vector<ConfigChange> changes = change.configuration();
    const std::string text = time.to.empty()
                                 ? fmt::format("unset queue {} execution_type", time.queue)
                                 : fmt::format("set queue {} execution_type = {}", time.queue, time.to);
    std::string warning;
    const auto record = [&] {
        return server.parts.plugin->manager(server.now(), PBS_CMD_SET, PBS_OBJ_QUEUE, time.queue, {},
                                            server.identity(), {}, warning, {text, changes});
    };
    if (auto done = change.commit(record); !done) return done;
    server.parts.log.write(LogEvent::admin, LogClass::queue, time.queue,
                           fmt::format("{}: the migration of the legacy files says so", text));
    return {};
}

Result<void> tell_done(Server& server, const std::string& queue) {
    ifl::Attribute attribute;
    attribute.name = "queue_type_done";
    attribute.value = queue;
    std::string warning;
    return server.parts.plugin->manager(server.now(), PBS_CMD_SET, PBS_OBJ_CONFIGURATION, {}, {attribute},
                                        server.identity(), {}, warning);
}

}  // namespace

void set_queue_types(Server& server) {
    if (server.parts.plugin == nullptr) return;
    for (const QueueTime& time : wanted(server)) {
        const Queue* queue = server.state.queue(time.queue);
        // A manager's request makes a queue first and sets its queue_type afterwards, so skip a queue without
        // one.
        if (queue == nullptr || !queue->attributes.has("queue_type")) continue;
        Result<void> done;
        if (!queue->route() && execution_type(*queue) == time.from) done = change_type(server, *queue, time);
        if (done) done = tell_done(server, time.queue);
        if (!done) server.parts.log.error("migration", done.error().message);
    }
}

}  // namespace pbs::host

#include "ifl/cmds/queue_switch.h"

#include <fmt/format.h>

#include "ifl/cmds/client.h"
#include "ifl/cmds/job_id.h"

namespace pbs::cmds {

namespace {

Result<void> set(const std::string& text, const char* attribute, bool on) {
    const auto destination = parse_destination(text);
    if (!destination || (destination->queue.empty() && destination->server.empty()))
        return fail(fmt::format("illegally formed destination: {}", text), 1);
    const auto connection = Connection::open(destination->server);
    if (!connection) return fail(connection.error().message, 2);
    std::string name = attribute;
    std::string value = on ? "TRUE" : "FALSE";
    attropl change{nullptr, name.data(), nullptr, value.data(), SET};
    if (pbs_manager(connection->handle(), MGR_CMD_SET, MGR_OBJ_QUEUE, destination->queue.c_str(), &change,
                    nullptr) != 0)
        return fail(fmt::format("{} {}", connection->error_text(), text), 2);
    return {};
}

}  // namespace

int switch_queues(const char* program, const std::vector<std::string>& arguments, const char* attribute,
                  bool on) {
    const std::string usage =
        fmt::format("Usage: {} [queue][@server] ...\n       {} --help | --version\n", program, program);
    const Program self{program, usage};
    if (information_asked(self, arguments)) return 0;
    if (arguments.empty()) return usage_error(self, {"no destination", 1});
    int status = 0;
    for (const std::string& destination : arguments) {
        if (const auto done = set(destination, attribute, on); !done) {
            complain(self, done.error().message);
            status = done.error().status;
        }
    }
    return status;
}

}  // namespace pbs::cmds

#include "simulate/ask.h"

#include <fmt/format.h>

#include <memory>
#include <string_view>

#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"

namespace pbs::simulate {
namespace {

struct FreeStatus {
    void operator()(batch_status* list) const { pbs_statfree(list); }
};
using StatusList = std::unique_ptr<batch_status, FreeStatus>;

std::string attribute(const batch_status* object, std::string_view name) {
    for (const attrl* a = object ? object->attribs : nullptr; a; a = a->next)
        if (a->name && name == a->name && (!a->resource || !*a->resource)) return a->value ? a->value : "";
    return {};
}

std::string why(int handle) {
    const int code = pbs_errno;
    const char* const text = pbs_geterrmsg(handle);
    return text && *text ? text : fmt::format("error {}", code);
}

class Connection {
  public:
    explicit Connection(const std::string& server)
        : handle_(pbs_connect(server.empty() ? nullptr : server.c_str())) {}
    ~Connection() {
        if (handle_ >= 0) pbs_disconnect(handle_);
    }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;
    int handle() const { return handle_; }

  private:
    int handle_;
};

}  // namespace

Result<ServerAnswer> ask_server(const std::string& server) {
    const std::string name = server.empty() ? "the default server" : "server " + server;
    const Connection connection(server);
    if (connection.handle() < 0)
        return tl::unexpected(fmt::format("can not connect to {}: {}", name, why(-1)));
    const StatusList document(pbs_statconfiguration(connection.handle(), nullptr));
    if (!document)
        return tl::unexpected(fmt::format("the configuration of {}: {}", name, why(connection.handle())));
    const StatusList status(pbs_statserver(connection.handle(), nullptr, nullptr));
    return ServerAnswer{attribute(document.get(), "json"), attribute(status.get(), "time_zone")};
}

}  // namespace pbs::simulate

#include "calendar/ask.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <utility>

#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"

namespace pbs::calendar {
namespace {

struct FreeStatus {
    void operator()(batch_status* list) const { pbs_statfree(list); }
};
using StatusList = std::unique_ptr<batch_status, FreeStatus>;

std::string text_of(const char* text) {
    return text ? text : "";
}

std::vector<ObjectText> objects_of(const batch_status* list) {
    std::vector<ObjectText> out;
    for (const batch_status* object = list; object; object = object->next) {
        ObjectText& text = out.emplace_back();
        text.name = text_of(object->name);
        for (const attrl* a = object->attribs; a; a = a->next) {
            if (!a->resource || !*a->resource) text.attributes[text_of(a->name)] = text_of(a->value);
        }
    }
    return out;
}

}  // namespace

Result<Client> Client::open(const std::string& server) {
    const int handle = pbs_connect(server.empty() ? nullptr : server.c_str());
    if (handle >= 0) return Client(handle);
    const std::string text = text_of(pbs_geterrmsg(-1));
    return tl::unexpected(fmt::format("can not connect to server {}: {}", server.empty() ? "default" : server,
                                      text.empty() ? fmt::format("error {}", pbs_errno) : text));
}

Client::Client(Client&& other) noexcept : handle_(std::exchange(other.handle_, -1)) {}
Client::~Client() {
    if (handle_ >= 0) pbs_disconnect(handle_);
}

std::string Client::why(const std::string& what) const {
    const int code = pbs_errno;
    const std::string text = text_of(pbs_geterrmsg(handle_));
    return fmt::format("{}: {}", what, text.empty() ? fmt::format("error {}", code) : text);
}

Result<Answers> Client::answers() const {
    Answers out;
    std::string failed;
    const auto take = [&](const char* what, batch_status* made) {
        const StatusList list(made);
        if (!list && pbs_errno != PBSE_NONE && failed.empty()) failed = why(what);
        return objects_of(list.get());
    };
    pbs_errno = PBSE_NONE;
    for (ObjectText& server : take("server", pbs_statserver(handle_, nullptr, nullptr)))
        out.server = std::move(server);
    out.scheds = take("scheds", pbs_statsched(handle_, nullptr, nullptr));
    out.queues = take("queues", pbs_statque(handle_, "", nullptr, nullptr));
    out.policies = take("policies", pbs_statpolicy(handle_, nullptr, nullptr, nullptr));
    out.time_windows = take("time_windows", pbs_stattimewindow(handle_, nullptr, nullptr, nullptr));
    if (!failed.empty()) return tl::unexpected(failed);
    return out;
}

Result<std::string> Client::add_non_work_days(std::span<const std::string> entries) const {
    std::string name = ATTR_non_work_days;
    std::string none;
    std::string value = fmt::format("{}", fmt::join(entries, ","));
    attropl change{nullptr, name.data(), none.data(), value.data(), INCR};
    const int code = pbs_manager(handle_, MGR_CMD_SET, MGR_OBJ_SERVER, "", &change, nullptr);
    if (code != PBSE_NONE) return tl::unexpected(why("set server non_work_days"));
    return text_of(pbs_geterrmsg(handle_));
}

}  // namespace pbs::calendar

// StatusSched with "object=accounting": shows the days that have accounting records, or the records of one
// day.
#include "server_plugin/host/requests/status_scheduler.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/home.h"
#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::host {
namespace {

// The size of one reply in bytes: small enough not to hold up the server's loop, and so large that a busy
// month takes only some hundred requests.
constexpr std::size_t kPart = 1 << 20;

// Returns whether the name is that of a day's file. Other names are refused, so that clients can't make the
// server open other files.
bool is_day(std::string_view name) {
    return name.size() == 8 && std::ranges::all_of(name, values::is_digit);
}

ifl::ObjectStatus day_status(std::string_view day, std::int64_t size) {
    return {PBS_OBJ_ACCOUNTING, std::string(day), {ifl::Attribute{"size", "", std::to_string(size)}}};
}

ifl::Reply days(const std::filesystem::path& folder) {
    ifl::StatusReply status;
    std::error_code error;
    for (const auto& file : std::filesystem::directory_iterator(folder, error)) {
        const std::string name = file.path().filename();
        std::error_code gone;
        const auto size = file.file_size(gone);
        if (is_day(name) && !gone)
            status.objects.push_back(day_status(name, static_cast<std::int64_t>(size)));
    }
    if (error) return ifl::Reply::error(PBSE_SYSTEM, fmt::format("{}: {}", folder.string(), error.message()));
    std::ranges::sort(status.objects, {}, &ifl::ObjectStatus::name);
    ifl::Reply reply;
    reply.body = std::move(status);
    return reply;
}

// Reads "offset=N"; an empty text means 0. Returns nullopt if the text is malformed.
std::optional<std::int64_t> offset_in(std::string_view extend) {
    constexpr std::string_view kKey = "offset=";
    if (extend.empty()) return 0;
    if (!extend.starts_with(kKey)) return std::nullopt;
    return values::digits<std::int64_t>(extend.substr(kKey.size()));
}

// Cuts the text after its last complete record, because the server may still be writing the next one.
void cut_behind_last_line(std::string& text) {
    const std::size_t end = text.rfind('\n');
    if (end != std::string::npos) text.resize(end + 1);
}

ifl::Reply records(const std::filesystem::path& file, std::string_view day, std::int64_t offset) {
    const Fd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    struct stat info {};
    if (!fd || fstat(fd.get(), &info) != 0) {
        if (errno == ENOENT)
            return ifl::Reply::error(PBSE_IVALREQ, fmt::format("no accounting records of {}", day));
        return ifl::Reply::error(PBSE_SYSTEM, fmt::format("{}: {}", file.string(), system_text(errno)));
    }
    std::string text(kPart, '\0');
    const ssize_t count = pread(fd.get(), text.data(), text.size(), offset);
    if (count < 0)
        return ifl::Reply::error(PBSE_SYSTEM, fmt::format("{}: {}", file.string(), system_text(errno)));
    text.resize(static_cast<std::size_t>(count));
    cut_behind_last_line(text);
    ifl::ObjectStatus status = day_status(day, info.st_size);
    status.attributes.push_back(ifl::Attribute{"text", "", std::move(text)});
    ifl::Reply reply;
    reply.body = ifl::StatusReply{{std::move(status)}};
    return reply;
}

}  // namespace

ifl::Reply status_accounting(Context& context, std::string_view extend) {
    if (auto allowed = operators_only(context); !allowed) return refuse(allowed.error());
    const auto& body = std::get<ifl::Status>(context.request.body);
    const auto offset = offset_in(extend);
    if (!offset || !body.wanted.empty() || (body.object.empty() && !extend.empty()))
        return ifl::Reply::error(PBSE_IVALREQ,
                                 fmt::format("accounting records: bad options '{}': expected a day with "
                                             "offset=BYTES, or neither, and no attributes",
                                             extend));
    const std::filesystem::path folder = context.server.options.home + "/server_priv/accounting";
    if (body.object.empty()) return days(folder);
    if (!is_day(body.object))
        return ifl::Reply::error(PBSE_IVALREQ,
                                 fmt::format("accounting records of '{}': expected YYYYMMDD", body.object));
    return records(folder / body.object, body.object, *offset);
}

}  // namespace pbs::host

// StatusSched with "object=changes": shows the objects that have changed since a version, which is a number
// from an earlier answer. The answer waits for the first change, and the loop serves other clients meanwhile.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/requests/status_scheduler.h"
#include "values/number.h"

namespace pbs::host {
namespace {

using Steady = std::chrono::steady_clock;

// The longest wait for a change. After it the answer says that there was none.
constexpr std::chrono::seconds kLongestWait{3600};

struct AskedChanges {
    std::int64_t version = 0;
    std::int64_t timeout = 0;
};

// Reads "version=N;timeout=SECONDS". Returns nullopt if the text is malformed.
std::optional<AskedChanges> read_changes(std::string_view extend) {
    constexpr std::string_view kVersion = "version=";
    constexpr std::string_view kTimeout = ";timeout=";
    const auto timeout_at = extend.find(kTimeout);
    if (!extend.starts_with(kVersion) || timeout_at == std::string_view::npos) return std::nullopt;
    const auto version =
        values::number<std::int64_t>(extend.substr(kVersion.size(), timeout_at - kVersion.size()));
    const auto timeout = values::number<std::int64_t>(extend.substr(timeout_at + kTimeout.size()));
    if (!version || !timeout || *version < 0 || *timeout < 0) return std::nullopt;
    return AskedChanges{*version, *timeout};
}

class AwaitedChanges final : public Steps {
  public:
    AwaitedChanges(Server& server, AskedChanges asked, std::unique_ptr<Steps> then)
        : server_(server),
          version_(asked.version),
          until_(Steady::now() +
                 std::min<std::chrono::seconds>(kLongestWait, std::chrono::seconds(asked.timeout))),
          then_(std::move(then)) {}

    bool waits() const override {
        return !begun_ && server_.parts.plugin->last_change() == version_ && Steady::now() < until_;
    }
    Left step(Context& context, ifl::StatusParts& out) override {
        if (waits()) return Left::later;
        begun_ = true;
        return then_->step(context, out);
    }
    ifl::Reply reply() override { return then_->reply(); }
    std::size_t size() const override { return then_->size(); }

  private:
    Server& server_;
    std::int64_t version_;
    Steady::time_point until_;
    std::unique_ptr<Steps> then_;
    bool begun_ = false;  // the plugin has been asked
};

}  // namespace

ifl::Reply status_changes(Context& context, std::string_view extend, const PluginsAnswer& answer) {
    if (!context.who.manager()) return ifl::Reply::error(PBSE_PERM);
    const auto asked = read_changes(extend);
    if (!asked)
        return ifl::Reply::error(
            PBSE_IVALREQ,
            fmt::format("changes '{}': expected version=N;timeout=SECONDS, both at least 0", extend));
    context.rest = std::make_unique<AwaitedChanges>(context.server, *asked,
                                                    answer(fmt::format("version={}", asked->version)));
    return {};
}

}  // namespace pbs::host

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
#include "ifl/program_requests.h"
#include "server_plugin/host/policy/plugin.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/host/requests/status_scheduler.h"

namespace pbs::host {
namespace {

using Steady = std::chrono::steady_clock;

class AwaitedChanges final : public Steps {
  public:
    AwaitedChanges(Server& server, ifl::AskedChanges asked, std::unique_ptr<Steps> then)
        : server_(server),
          version_(asked.version),
          until_(Steady::now() + std::min<std::chrono::seconds>(ifl::kLongestChangesWait,
                                                                std::chrono::seconds(asked.timeout))),
          then_(std::move(then)) {}

    bool waits() const override {
        return !begun_ && server_.parts.plugin->last_change() == version_ && Steady::now() < until_;
    }
    Remaining step(Context& context, ifl::StatusParts& out) override {
        if (waits()) return Remaining::later;
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
    const auto asked = ifl::read_changes(extend);
    if (!asked) return refuse(asked.error());
    context.rest = std::make_unique<AwaitedChanges>(context.server, *asked,
                                                    answer(fmt::format("version={}", asked->version)));
    return {};
}

}  // namespace pbs::host

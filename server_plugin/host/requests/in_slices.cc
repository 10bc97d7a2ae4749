#include "server_plugin/host/requests/in_slices.h"

#include <memory>
#include <utility>
#include <vector>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/guard.h"
#include "server_plugin/host/base/log.h"

namespace pbs::host {
namespace {

class InSlices final : public Answered {
  public:
    InSlices(Context& context, Slices slices)
        : server_(context.server), ticket_(context.ticket), slices_(std::move(slices)), batch_(server_) {}
    ~InSlices() override {
        if (stage_ < Stage::settling && server_.parts.plugin != nullptr)
            server_.parts.plugin->abandon(ticket_);
        // If the client has gone after the commit, the change is in force, so report the remaining objects to
        // the plugin. A later change moves the remaining rows to their places in the database.
        batch_.tell_rest();
        if (when_committed_) guarded(server_.parts.log, "after a change", when_committed_);
    }

    Remaining step(Context& context, ifl::StatusParts&) override {
        switch (stage_) {
            case Stage::changing:
                return change(context);
            case Stage::writing:
                return write();
            case Stage::asking:
                return ask(context);
            case Stage::settling:
                return settle();
        }
        return Remaining::nothing;
    }

  private:
    enum class Stage : std::uint8_t { changing, writing, asking, settling };

    Remaining change(Context& context) {
        tl::expected<bool, ifl::Reply> more = false;
        batch_.run([&] { more = slices_.some(context); });
        if (!more && more.error().code == PBSE_TRYAGAIN) return Remaining::later;
        if (!more) return end(std::move(more.error()));
        if (!*more) stage_ = Stage::writing;
        return Remaining::more;
    }

    Remaining write() {
        const Result<bool> more = slices_.dry_run ? batch_.compare_some() : batch_.write_some();
        if (!more) return end(refuse(more.error()));
        for (size_t i = texts_.size(); i < batch_.changes().size(); ++i)
            texts_.push_back({to_json(batch_.changes()[i].before), to_json(batch_.changes()[i].after)});
        if (!*more) stage_ = Stage::asking;
        return Remaining::more;
    }

    // Returns whether the plugin works on another client's change.
    bool plugin_is_busy() const { return server_.parts.plugin != nullptr && server_.parts.plugin->busy(); }

    Remaining ask(Context& context) {
        const auto plugins_part = [&]() -> Result<void> {
            reply_ = slices_.plugins_part(context, {slices_.text, batch_.changes(), texts_});
            if (reply_.code != 0) return fail(reply_.code);
            return {};
        };
        auto done = batch_.check();
        if (!done) return end(refuse(done.error()));
        done = slices_.dry_run ? plugins_part() : batch_.commit(plugins_part);
        if (reply_.code == PBSE_TRYAGAIN) return Remaining::later;
        if (!done || slices_.dry_run) {
            context.when_committed = {};
            if (reply_.code != 0 || done) return Remaining::nothing;
            return end(refuse(done.error()));
        }
        stage_ = Stage::settling;
        when_committed_ = std::exchange(context.when_committed, {});
        return Remaining::more;
    }

    // Completes the change, which is in force since the commit: reports it to the plugin, and moves its rows
    // to their places in the database. So a failure here doesn't refuse the request. After an exception the
    // batch's destructor goes on with the reports.
    Remaining settle() {
        Result<bool> more = false;
        guarded(server_.parts.log, "completing a change", [&] { more = batch_.settle_some(); });
        if (more && *more) return Remaining::more;
        // The actions for after the commit use the plugin, too. So wait until it has no other work.
        if (plugin_is_busy()) return Remaining::later;
        if (!more) server_.parts.log.error("database", more.error().message + "; a later change tries again");
        batch_.tell_rest();
        if (const auto then = std::exchange(when_committed_, {}))
            guarded(server_.parts.log, "after a commit", then);
        return Remaining::nothing;
    }

    Server& server_;
    uint64_t ticket_;
    Slices slices_;
    Batch batch_;
    Stage stage_ = Stage::changing;
    std::vector<ChangeText> texts_;
    std::function<void()> when_committed_;
};

}  // namespace

ifl::Reply in_slices(Context& context, Slices slices) {
    context.rest = std::make_unique<InSlices>(context, std::move(slices));
    return {};
}

}  // namespace pbs::host

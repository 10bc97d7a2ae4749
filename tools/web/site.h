// Data that several pages ask a server for: its clock, zone and calendar.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/calendar/changes.h"
#include "tools/calendar/site.h"
#include "tools/web/page.h"

namespace pbs::web {

/// A server's replies about the site. All except `server` may be NULL: empty.
struct SiteView {
    const batch_status* server = nullptr;
    const batch_status* scheds = nullptr;
    const batch_status* queues = nullptr;
    const batch_status* policies = nullptr;
    const batch_status* time_windows = nullptr;
};
/// Owns the replies of a SiteView.
struct SiteReplies {
    cmds::StatusList server;
    cmds::StatusList scheds;
    cmds::StatusList queues;
    cmds::StatusList policies;
    cmds::StatusList time_windows;

    SiteView view() const {
        return {server.get(), scheds.get(), queues.get(), policies.get(), time_windows.get()};
    }
};
/// Asks for the replies. Errors: the server refuses its status or that of its schedulers or queues. A server
/// without policy objects refuses that of policies and time_windows, which are empty then.
tl::expected<SiteReplies, Answer> ask_site(Link& server);

/// Makes the calendar of a site. An error names the object that makes no sense.
calendar::Result<calendar::Site> calendar_of(const SiteView& site);

/// Makes an answer with the members that all have: version, time, time_zone, time_zone_assumed.
Answer answer_of(const SiteView& site, const calendar::Result<calendar::Site>& known);

/// Returns the server's clock in seconds since the Epoch, or this machine's if the server doesn't report it.
std::int64_t clock_of(const SiteView& site);

/// May users see each other's jobs (query_other_jobs)?
bool shows_jobs_of_others(const attrl* server);
/// May clients see a job of this owner, "user@host"? Where users don't see each other's jobs, only those of
/// this program's user are shown, even if it is an operator and could see more.
bool may_show(const attrl* server, std::string_view owner);

/// Spans as JSON: from, to (seconds since the Epoch), kind, name, detail, and whether the range cuts them
/// off.
Json spans_json(const std::vector<calendar::Span>& spans);

/// Converts a failed request to an HTTP error.
Answer refused(const Link& server);

}  // namespace pbs::web

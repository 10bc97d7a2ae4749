// Asks a server for the facts that several pages show: its clock, zone and calendar.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/calendar/changes.h"
#include "tools/calendar/site.h"
#include "tools/web/page.h"

namespace pbs::web {

/// A server's replies about the site. Each except `server` may be NULL: an empty list.
struct SiteView {
    const batch_status* server = nullptr;
    const batch_status* scheds = nullptr;
    const batch_status* queues = nullptr;
    const batch_status* policies = nullptr;
    const batch_status* time_windows = nullptr;
};
/// The owner of the replies in a SiteView.
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
/// Asks for the replies. Errors: the server refuses its status, or that of its schedulers or queues. A server
/// without policy objects refuses policies and time_windows, whose lists are then empty.
tl::expected<SiteReplies, Answer> ask_site(Link& server);

/// Makes the calendar of a site. The error names an object with attributes that can't be used.
calendar::Result<calendar::Site> calendar_of(const SiteView& site);

/// Makes an answer with the members that all answers have: version, time, time_zone, time_zone_assumed.
Answer answer_of(const SiteView& site, const calendar::Result<calendar::Site>& known);

/// Returns the server's clock in seconds since the Epoch, or this machine's if the server doesn't report it.
std::int64_t clock_of(const SiteView& site);

/// Returns whether users may see each other's jobs (query_other_jobs).
bool shows_jobs_of_others(const attrl* server);
/// Returns whether clients may see a job of this owner, "user@host". If users don't see each other's jobs,
/// clients see only jobs of this program's user, even if that user is an operator and could see all.
bool may_show(const attrl* server, std::string_view owner);

/// Returns spans as JSON: from, to (seconds since the Epoch), kind, name, detail, and whether the range cuts
/// them off.
Json spans_json(const std::vector<calendar::Span>& spans);

/// Makes an HTTP error from the last failed request.
Answer refused(const Link& server);

/// Converts "Transit:0 Queued:1 Held:0 ..." to {"Transit": 0, "Queued": 1, ...}.
Json counts_of(std::string_view state_count);

}  // namespace pbs::web

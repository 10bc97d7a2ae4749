// What several pages ask of a server: its clock, its zone, and its calendar.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/calendar/changes.h"
#include "tools/calendar/site.h"
#include "tools/web/page.h"

namespace pbs::web {

/// What a server told of a site. All but the server may be NULL: there are none.
struct SiteView {
    const batch_status* server = nullptr;
    const batch_status* scheds = nullptr;
    const batch_status* queues = nullptr;
    const batch_status* policies = nullptr;
    const batch_status* time_windows = nullptr;
};
/// The same, kept as long as the object.
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
/// Asks for them. The answer of a server that refuses one of the first three is an error; the other two are
/// those of a server without policy objects.
tl::expected<SiteReplies, Answer> ask_site(Link& server);

/// The calendar of a site; an error names the object that makes no sense.
calendar::Result<calendar::Site> calendar_of(const SiteView& site);

/// An answer that has what all of them have: version, time, time_zone, time_zone_assumed.
Answer answer_of(const SiteView& site, const calendar::Result<calendar::Site>& known);

/// The server's clock, in seconds since the Epoch; this machine's if the server doesn't say.
std::int64_t clock_of(const SiteView& site);

/// May everybody see the jobs of everybody (query_other_jobs)?
bool shows_jobs_of_others(const attrl* server);
/// May this program's clients see a job of this owner, "user@host"? Where users don't see the jobs of others,
/// this program shows its own user's alone, even if it is an operator and could see more.
bool may_show(const attrl* server, std::string_view owner);

/// Spans as JSON: from, to (seconds since the Epoch), kind, name, detail, and whether the range cuts them.
Json spans_json(const std::vector<calendar::Span>& spans);

/// The error that a request failed with, as HTTP has it.
Answer refused(const Link& server);

}  // namespace pbs::web

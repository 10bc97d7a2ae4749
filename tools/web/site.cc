#include "tools/web/site.h"

#include <pwd.h>
#include <unistd.h>

#include <array>
#include <ctime>

#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"
#include "tools/calendar/ask.h"
#include "values/counts.h"
#include "values/utc.h"

namespace pbs::web {
namespace {

// Returns the name of this program's user, as the server knows it.
std::string own_name() {
    constexpr std::size_t kMost = 4096;
    std::array<char, kMost> buffer{};
    passwd entry{};
    passwd* found = nullptr;
    if (getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found) != 0 || found == nullptr)
        return {};
    return found->pw_name;
}

calendar::Answers answers_of(const SiteView& site) {
    calendar::Answers out;
    for (calendar::ObjectText& server : calendar::object_texts(site.server)) out.server = std::move(server);
    out.scheds = calendar::object_texts(site.scheds);
    out.queues = calendar::object_texts(site.queues);
    out.policies = calendar::object_texts(site.policies);
    out.time_windows = calendar::object_texts(site.time_windows);
    return out;
}

}  // namespace

Answer refused(const Link& server) {
    constexpr int kForbidden = 403;
    constexpr int kNotFound = 404;
    constexpr int kBadGateway = 502;
    switch (server.error()) {
        case PBSE_BADATVAL:
            return refusal(kBad, server.why());
        case PBSE_PERM:
            return refusal(kForbidden, server.why());
        case PBSE_UNKJOBID:
        case PBSE_HISTJOBID:
            return refusal(kNotFound, server.why());
        default:
            return refusal(kBadGateway, server.why());
    }
}

tl::expected<SiteReplies, Answer> ask_site(Link& server) {
    SiteReplies out;
    const int handle = server.handle();
    out.server = server.take(pbs_statserver(handle, nullptr, nullptr));
    if (!out.server) return tl::unexpected(refused(server));
    out.scheds = server.take(pbs_statsched(handle, nullptr, nullptr));
    if (server.error() != PBSE_NONE) return tl::unexpected(refused(server));
    out.queues = server.take(pbs_statque(handle, "", nullptr, nullptr));
    if (server.error() != PBSE_NONE) return tl::unexpected(refused(server));
    out.policies = server.take(pbs_statpolicy(handle, nullptr, nullptr, nullptr));
    out.time_windows = server.take(pbs_stattimewindow(handle, nullptr, nullptr, nullptr));
    return out;
}

calendar::Result<calendar::Site> calendar_of(const SiteView& site) {
    return calendar::make_site(answers_of(site));
}

std::int64_t clock_of(const SiteView& site) {
    const std::string text(cmds::value_of(site.server->attribs, "server_time").value_or(""));
    const auto shown = values::utc_time(text);
    return shown ? shown->time_since_epoch().count() : std::time(nullptr);
}

Answer answer_of(const SiteView& site, const calendar::Result<calendar::Site>& known) {
    Answer answer;
    answer.time = clock_of(site);
    answer.json = {{"version", kVersion},
                   {"time", 0},
                   {"time_zone", known ? known->zone.name() : "UTC"},
                   {"time_zone_assumed", !known || known->zone_assumed}};
    return answer;
}

bool shows_jobs_of_others(const attrl* server) {
    return cmds::value_of(server, ATTR_queryother).value_or("") != "False";
}

bool may_show(const attrl* server, std::string_view owner) {
    static const std::string own = own_name();
    return shows_jobs_of_others(server) || owner.substr(0, owner.find('@')) == own;
}

Json spans_json(const std::vector<calendar::Span>& spans) {
    Json out = Json::array();
    for (const calendar::Span& span : spans) {
        out.push_back({{"from", span.when.start.time_since_epoch().count()},
                       {"to", span.when.end.time_since_epoch().count()},
                       {"kind", calendar::kind_text(span.kind)},
                       {"name", span.name},
                       {"detail", span.detail},
                       {"began_earlier", span.earlier},
                       {"goes_on", span.later}});
    }
    return out;
}

Json counts_of(std::string_view state_count) {
    Json out = Json::object();
    for (const auto& [state, count] : values::counts(state_count)) out[std::string(state)] = count;
    return out;
}

}  // namespace pbs::web

#include "tools/web/pages/pages.h"

#include <algorithm>
#include <chrono>
#include <map>

#include "ifl/cmds/text.h"
#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"
#include "tools/web/site.h"

namespace pbs::web {
namespace {

using cmds::text_of;
using cmds::value_of;
using cmds::view;

constexpr std::size_t kMostChanges = 10;
constexpr std::chrono::days kAhead{7};

bool is_true(const batch_status& object, std::string_view name) {
    return text_of(object, name) == "True";
}
Json number_of(const batch_status& object, std::string_view name) {
    return or_null(cmds::parse_integer(text_of(object, name)));
}
std::int64_t count_of(const batch_status& object, std::string_view name, std::string_view resource) {
    return cmds::parse_integer(value_of(object.attribs, name, resource).value_or("")).value_or(0);
}

Json server_json(const batch_status& server) {
    return {{"name", view(server.name)},
            {"pbs_version", text_of(server, ATTR_version)},
            {"state", text_of(server, ATTR_status)},
            {"jobs_of_others", shows_jobs_of_others(server.attribs)},
            {"total_jobs", number_of(server, ATTR_total)},
            {"states", counts_of(text_of(server, ATTR_count))}};
}

Json scheds_json(const batch_status* scheds) {
    Json out = Json::array();
    for (; scheds != nullptr; scheds = scheds->next) {
        Json notes = Json::array();
        for (const char* name :
             {"configuration_error", "migration_error", "unsupported_settings", "comment"}) {
            if (const auto text = text_of(*scheds, name); !text.empty())
                notes.push_back({{"about", name}, {"text", text}});
        }
        out.push_back({{"name", view(scheds->name)},
                       {"scheduling", is_true(*scheds, ATTR_scheduling)},
                       {"state", text_of(*scheds, ATTR_sched_state)},
                       {"policy", text_of(*scheds, "active_policy")},
                       {"policies", text_of(*scheds, ATTR_policy)},
                       {"prime_time", is_true(*scheds, "prime_time")},
                       {"dedicated_time", is_true(*scheds, "dedicated_time")},
                       {"next_policy_change", text_of(*scheds, "next_policy_change")},
                       {"notes", std::move(notes)}});
    }
    return out;
}

Json queues_json(const batch_status* queues) {
    Json out = Json::array();
    for (; queues != nullptr; queues = queues->next) {
        out.push_back({{"name", view(queues->name)},
                       {"type", text_of(*queues, ATTR_qtype)},
                       {"enabled", is_true(*queues, ATTR_enable)},
                       {"started", is_true(*queues, ATTR_start)},
                       {"total_jobs", number_of(*queues, ATTR_total)},
                       {"states", counts_of(text_of(*queues, ATTR_count))},
                       {"time_window", text_of(*queues, ATTR_time_window)}});
    }
    return out;
}

struct Change {
    std::int64_t at;
    bool begins;
    const calendar::Span* span;
};

// Lists the next beginnings and ends of windows, policies and the like, the soonest first.
Json changes_json(const calendar::Site& site, std::int64_t now) {
    const rrule::Instant from{rrule::Seconds(now)};
    const auto spans = calendar::spans(site, from, from + kAhead);
    std::vector<Change> list;
    for (const calendar::Span& span : spans) {
        // Skip windows without queues: they are of prime or dedicated time, which have spans of their own.
        if (span.kind == calendar::Kind::window && span.detail.empty()) continue;
        if (span.when.start > from) list.push_back({span.when.start.time_since_epoch().count(), true, &span});
        // Skip the end of a policy, which is the beginning of the next one.
        const bool ends = span.kind != calendar::Kind::policy && span.kind != calendar::Kind::non_work_day;
        if (ends && !span.later) list.push_back({span.when.end.time_since_epoch().count(), false, &span});
    }
    std::ranges::stable_sort(list, {}, &Change::at);
    Json out = Json::array();
    for (const Change& change : list) {
        if (out.size() == kMostChanges) break;
        out.push_back({{"at", change.at},
                       {"begins", change.begins},
                       {"kind", calendar::kind_text(change.span->kind)},
                       {"name", change.span->name},
                       {"detail", change.span->detail}});
    }
    return out;
}

// Returns the vnodes as columns, a list for each field: ten thousand objects would take five times the bytes.
Json vnodes_json(const batch_status* vnodes) {
    Json names = Json::array();
    Json states = Json::array();
    Json cpus = Json::array();
    Json used = Json::array();
    Json words = Json::array();
    std::map<std::string_view, std::size_t> known;
    for (; vnodes != nullptr; vnodes = vnodes->next) {
        const auto [state, added] = known.try_emplace(text_of(*vnodes, ATTR_NODE_state), known.size());
        if (added) words.push_back(state->first);
        names.push_back(view(vnodes->name));
        states.push_back(state->second);
        cpus.push_back(count_of(*vnodes, ATTR_rescavail, "ncpus"));
        used.push_back(count_of(*vnodes, ATTR_rescassn, "ncpus"));
    }
    return {{"state_words", std::move(words)},
            {"names", std::move(names)},
            {"states", std::move(states)},
            {"ncpus", std::move(cpus)},
            {"ncpus_used", std::move(used)}};
}

Answer ask_now(Link& server, const Query&) {
    const auto replies = ask_site(server);
    if (!replies) return replies.error();
    cmds::AttrList wanted;
    wanted.add(ATTR_NODE_state, "", "");
    wanted.add(ATTR_rescavail, "", "");
    wanted.add(ATTR_rescassn, "", "");
    const cmds::StatusList vnodes =
        server.take(pbs_statvnode(server.handle(), "", wanted.attributes(), nullptr));
    if (!vnodes && server.error() != PBSE_NONE && server.error() != PBSE_NONODES) return refused(server);
    return now_answer(replies->view(), vnodes.get());
}

}  // namespace

Answer now_answer(const SiteView& site, const batch_status* vnodes) {
    const auto known = calendar_of(site);
    Answer answer = answer_of(site, known);
    answer.json["server"] = server_json(*site.server);
    answer.json["scheds"] = scheds_json(site.scheds);
    answer.json["next_changes"] = known ? changes_json(*known, *answer.time) : Json::array();
    answer.json["calendar_error"] = known ? Json(nullptr) : Json(known.error());
    answer.json["queues"] = queues_json(site.queues);
    answer.json["vnodes"] = vnodes_json(vnodes);
    return answer;
}

const Page kNowPage{
    .name = "now", .title = "Now", .parameters = {}, .good_for = std::chrono::seconds(3), .ask = ask_now};

}  // namespace pbs::web

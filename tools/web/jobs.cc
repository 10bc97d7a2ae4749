#include "tools/web/jobs.h"

#include <algorithm>

#include "ifl/cmds/datetime.h"
#include "ifl/cmds/text.h"
#include "ifl/pbs_ifl.h"
#include "values/text.h"

namespace pbs::web {
namespace {

using cmds::value_of;
using cmds::view;

cmds::AttrList wanted() {
    cmds::AttrList list;
    for (const char* name : {ATTR_name, ATTR_owner, ATTR_queue, ATTR_state, ATTR_l, ATTR_ctime, ATTR_stime,
                             ATTR_estimated, ATTR_execvnode, ATTR_comment})
        list.add(name, "", "");
    return list;
}

cmds::StatusList select(Link& server, cmds::AttrList criteria) {
    cmds::AttrList attributes = wanted();
    return server.take(pbs_selstat(server.handle(), criteria.operations(), attributes.attributes(), nullptr));
}

std::int64_t ncpus_in(std::string_view chunk) {
    for (const std::string_view part : values::split(chunk, ':')) {
        if (part.starts_with("ncpus=")) return cmds::parse_integer(part.substr(6)).value_or(0);
    }
    return 0;
}

}  // namespace

std::vector<Place> parse_exec_vnode(std::string_view text) {
    std::vector<Place> out;
    std::string plain(text);
    std::erase_if(plain, [](char c) { return c == '(' || c == ')'; });
    for (const std::string_view chunk : values::split(plain, '+')) {
        const std::string_view name = chunk.substr(0, chunk.find(':'));
        if (name.empty()) continue;
        auto found = std::ranges::find(out, name, &Place::vnode);
        if (found == out.end()) found = out.insert(out.end(), {std::string(name), 0});
        found->ncpus += ncpus_in(chunk);
    }
    return out;
}

std::optional<std::int64_t> seconds_of(const attrl* attributes, std::string_view name,
                                       std::string_view resource) {
    const auto value = value_of(attributes, name, resource);
    if (!value) return std::nullopt;
    const auto seconds = cmds::parse_duration(*value);
    return seconds ? std::optional<std::int64_t>(*seconds) : std::nullopt;
}

std::optional<std::int64_t> integer_of(const attrl* attributes, std::string_view name,
                                       std::string_view resource) {
    const auto number = cmds::parse_integer(value_of(attributes, name, resource).value_or(""));
    return number ? std::optional<std::int64_t>(*number) : std::nullopt;
}

Json job_json(const batch_status& job) {
    const auto text = [&](const char* name) {
        return value_of(job.attribs, name).value_or(std::string_view());
    };
    return {{"id", view(job.name)},
            {"name", text(ATTR_name)},
            {"owner", text(ATTR_owner)},
            {"queue", text(ATTR_queue)},
            {"state", text(ATTR_state)},
            {"ncpus", or_null(integer_of(job.attribs, ATTR_l, "ncpus"))},
            {"walltime", or_null(seconds_of(job.attribs, ATTR_l, "walltime"))},
            {"created", or_null(integer_of(job.attribs, ATTR_ctime))},
            {"start", or_null(integer_of(job.attribs, ATTR_stime))},
            {"estimated_start", or_null(integer_of(job.attribs, ATTR_estimated, "start_time"))}};
}

std::vector<calendar::ReservationTime> times_of(const attrl* reservation) {
    return calendar::reservation_times(
        [&](std::string_view name) { return value_of(reservation, name).value_or(""); });
}

cmds::StatusList ask_running(Link& server) {
    cmds::AttrList criteria;
    criteria.add(ATTR_state, "", "RSU", EQ);
    cmds::AttrList attributes = wanted();
    return server.take(pbs_selstat(server.handle(), criteria.operations(), attributes.attributes(), "T"));
}

cmds::StatusList ask_expected(Link& server) {
    cmds::AttrList criteria;
    criteria.add(ATTR_state, "", "Q", EQ);
    criteria.add(ATTR_estimated, "start_time", "1", GE);
    return select(server, std::move(criteria));
}

cmds::StatusList ask_all(Link& server) {
    cmds::AttrList attributes = wanted();
    return server.take(pbs_statjob(server.handle(), "", attributes.attributes(), nullptr));
}

}  // namespace pbs::web

#include "tools/calendar/ask.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "ifl/cmds/attr_list.h"
#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"

namespace pbs::calendar {

std::vector<ObjectText> object_texts(const batch_status* list, WithResources with) {
    std::vector<ObjectText> out;
    for (const batch_status* object = list; object; object = object->next) {
        ObjectText& text = out.emplace_back();
        text.name = cmds::view(object->name);
        for (const attrl* a = object->attribs; a; a = a->next) {
            const std::string_view resource = cmds::view(a->resource);
            if (resource.empty())
                text.attributes[std::string(cmds::view(a->name))] = cmds::view(a->value);
            else if (with == WithResources::yes)
                text.attributes[fmt::format("{}.{}", cmds::view(a->name), resource)] = cmds::view(a->value);
        }
    }
    return out;
}

Result<Client> Client::open(const std::string& server) {
    auto connection = cmds::Connection::open(server);
    if (connection) return Client(std::move(*connection));
    return tl::unexpected(fmt::format("can not connect to server {}: {}", server.empty() ? "default" : server,
                                      cmds::failure_text(-1)));
}

std::string Client::why(const std::string& what) const {
    return fmt::format("{}: {}", what, cmds::failure_text(connection_.handle()));
}

std::vector<ObjectText> Client::objects_of(const char* what, batch_status* made, WithResources with,
                                           std::string& failed) const {
    const cmds::StatusList list(made);
    if (!list && pbs_errno != PBSE_NONE && failed.empty()) failed = why(what);
    return object_texts(list.get(), with);
}

Result<Answers> Client::answers() const {
    Answers out;
    std::string failed;
    const int handle = connection_.handle();
    const auto take = [&](const char* what, batch_status* made) {
        return objects_of(what, made, WithResources::no, failed);
    };
    pbs_errno = PBSE_NONE;
    for (ObjectText& server : take("server", pbs_statserver(handle, nullptr, nullptr)))
        out.server = std::move(server);
    out.scheds = take("scheds", pbs_statsched(handle, nullptr, nullptr));
    out.queues = take("queues", pbs_statque(handle, "", nullptr, nullptr));
    out.policies = take("policies", pbs_statpolicy(handle, nullptr, nullptr, nullptr));
    out.time_windows = take("time_windows", pbs_stattimewindow(handle, nullptr, nullptr, nullptr));
    if (!failed.empty()) return tl::unexpected(failed);
    // Go on if this request is refused, as by a server without reservations.
    out.reservations = take("reservations", pbs_statresv(handle, nullptr, nullptr, nullptr));
    return out;
}

Result<ResourceAnswers> Client::resource_answers(const std::string& quotas_of) const {
    ResourceAnswers out;
    std::string failed;
    const int handle = connection_.handle();
    const auto take = [&](const char* what, batch_status* made) {
        return objects_of(what, made, WithResources::yes, failed);
    };
    const auto jobs = [&](bool bundled) {
        cmds::AttrList wanted;
        for (const char* name : {ATTR_state, ATTR_queue, ATTR_stime, ATTR_execvnode, ATTR_estimated, ATTR_l,
                                 ATTR_used, ATTR_r, ATTR_comment})
            wanted.add(name, "", "");
        if (bundled)
            for (const char* name : {"sched_preempted", "suspended_for"}) wanted.add(name, "", "");
        pbs_errno = PBSE_NONE;
        // Ask for subjobs: of an array only they run.
        return pbs_statjob(handle, nullptr, wanted.attributes(), const_cast<char*>("t"));
    };
    pbs_errno = PBSE_NONE;
    for (ObjectText& server : take("server", pbs_statserver(handle, nullptr, nullptr)))
        out.server = std::move(server);
    out.queues = take("queues", pbs_statque(handle, "", nullptr, nullptr));
    out.vnodes = take("vnodes", pbs_statvnode(handle, "", nullptr, nullptr));
    batch_status* found = jobs(true);
    // OpenPBS's server refuses attributes that only the bundled server has.
    if (found == nullptr && pbs_errno != PBSE_NONE) found = jobs(false);
    out.jobs = take("jobs", found);
    if (!quotas_of.empty()) {
        pbs_errno = PBSE_NONE;
        const cmds::StatusList counters(pbs_statquotause(handle, quotas_of.c_str(), "jobs"));
        if (!counters && pbs_errno != PBSE_NONE && failed.empty()) failed = why("quotas");
        out.counters = cmds::quota_counters(counters.get());
    }
    if (!failed.empty()) return tl::unexpected(failed);
    out.reservations = take("reservations", pbs_statresv(handle, nullptr, nullptr, nullptr));
    return out;
}

Result<std::string> Client::add_non_work_days(std::span<const std::string> entries) const {
    cmds::AttrList change;
    change.add(ATTR_non_work_days, "", fmt::format("{}", fmt::join(entries, ",")), INCR);
    const int handle = connection_.handle();
    const int code = pbs_manager(handle, MGR_CMD_SET, MGR_OBJ_SERVER, "", change.operations(), nullptr);
    if (code != PBSE_NONE) return tl::unexpected(why("set server non_work_days"));
    return std::string(cmds::view(pbs_geterrmsg(handle)));
}

}  // namespace pbs::calendar

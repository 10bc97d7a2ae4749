#include "tools/simulate/program_requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <string_view>
#include <utility>

#include "ifl/error_text.h"
#include "ifl/pbs_error.h"
#include "ifl/pbs_ifl.h"
#include "ifl/program_requests.h"
#include "server_plugin/record/change_log.h"
#include "server_plugin/record/explanation.h"
#include "server_plugin/record/record_file.h"
#include "tools/simulate/job_records.h"
#include "values/amount.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::simulate {
namespace {

using ifl::Reply;
using ifl::RequestType;
using Packets = std::vector<std::string>;

// A program that asks again for something that it has been told waits for this time.
constexpr Seconds kPollWait{1};

auto fail(int code, std::string text = {}) {
    return tl::unexpected(ifl::Error{code, std::move(text)});
}

Reply reply_of(const ifl::Result<void>& done) {
    return done ? Reply::ok() : Reply::error(done.error().code, done.error().message);
}

Packets packets_of(const Reply& reply) {
    return {ifl::reply_packet(reply)};
}

// Finds the job of an id such as "12" or "12.trace". PBSE_UNKJOBID: no such job waits, runs or is suspended.
ifl::Result<std::uint64_t> find_job(SimulatedServer& server, std::string_view id) {
    constexpr std::string_view kServer = ".trace";
    if (id.ends_with(kServer)) id.remove_suffix(kServer.size());
    const auto number = values::digits<std::uint64_t>(id);
    if (!number || *number == 0 || server.state(*number - 1) == '\0') return fail(PBSE_UNKJOBID);
    return *number - 1;
}

// Takes the places of a decision to run a job. PBSE_RESCUNAV: the job can't run, for the decision's reason.
// PBSE_UNKJOBID: there is no decision, because there is no such job.
ifl::Result<OwnPlaces> places_in(const sched::Decisions& decided) {
    if (decided.list.empty()) return fail(PBSE_UNKJOBID);
    const sched::Decision& last = decided.list.back();
    if (last.kind != sched::DecisionKind::run)
        return fail(PBSE_RESCUNAV, std::string(ifl::reason_in(last.text)));
    OwnPlaces own;
    for (const sched::Place& place : last.places) {
        const auto& amounts = own.amounts.emplace_back(place.amounts.begin(), place.amounts.end());
        own.places.push_back({place.vnode, amounts, place.joined});
    }
    return own;
}

// Reads a place at which a start is to be tested.
ifl::Result<OwnPlaces> read_tested(SimulatedServer& server, std::string_view where, std::uint64_t job) {
    if (auto few = ifl::check_tested_places(server.room().count(where, server.requested(job))); !few)
        return tl::unexpected(few.error());
    return server.room().read(where, server.requested(job));
}

ifl::Result<void> start_job(SimulatedServer& server, const ifl::RunJob& asked, std::string_view extend) {
    const auto job = find_job(server, asked.job);
    if (!job) return tl::unexpected(job.error());
    if (server.state(*job) != 'Q') return fail(PBSE_BADSTATE);
    const auto checked = ifl::is_checked(extend);
    if (!checked) return tl::unexpected(checked.error());
    const sched::JobHandle handle = handle_of(static_cast<std::uint32_t>(*job));
    const std::string_view where = asked.destination;
    if (where.empty()) {
        const auto chosen = places_in(*checked ? server.scheduler().test_start(server.now(), handle)
                                               : server.scheduler().place(server.now(), handle));
        if (!chosen) return tl::unexpected(chosen.error());
        return server.start(*job, chosen->places);
    }
    const auto named =
        *checked ? read_tested(server, where, *job) : server.room().read(where, server.requested(*job));
    if (!named) return tl::unexpected(named.error());
    if (*checked)
        if (auto may = places_in(server.scheduler().test_start(server.now(), handle, named->places)); !may)
            return tl::unexpected(may.error());
    return server.start(*job, named->places);
}

Reply answer_start(SimulatedServer& server, const ifl::Request& request) {
    const auto done = start_job(server, std::get<ifl::RunJob>(request.body), request.extend);
    if (!done)
        server.refused_start(done.error().message.empty() ? ifl::error_text(done.error().code)
                                                          : std::string_view(done.error().message));
    return reply_of(done);
}

Reply answer_rerun(SimulatedServer& server, const std::string& id) {
    const auto job = find_job(server, id);
    if (!job) return reply_of(tl::unexpected(job.error()));
    if (server.state(*job) == 'Q') return Reply::error(PBSE_BADSTATE);
    server.requeue(*job);
    return Reply::ok();
}

// Suspends or resumes a job, as pbs_sigjob() does. Refuses other signals, as there are no processes.
ifl::Result<void> signal_job(SimulatedServer& server, const ifl::SignalJob& asked) {
    const auto job = find_job(server, asked.job);
    if (!job) return tl::unexpected(job.error());
    const bool suspends = asked.signal == "suspend";
    if (!suspends && asked.signal != "resume")
        return fail(PBSE_NOSUP, fmt::format("signal {}: in a simulation, jobs get suspend and resume alone",
                                            asked.signal));
    if (!suspends) return server.resume(*job);
    if (server.state(*job) != 'R') return fail(PBSE_BADSTATE);
    server.suspend(*job);
    return {};
}

ifl::Result<void> delete_job(SimulatedServer& server, const std::string& id) {
    const auto job = find_job(server, id);
    if (!job) return tl::unexpected(job.error());
    server.remove(*job);
    return {};
}

Reply answer_deletions(SimulatedServer& server, const std::vector<std::string>& jobs) {
    ifl::DeleteReply failed;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        if (std::find(jobs.begin(), jobs.begin() + static_cast<std::ptrdiff_t>(i), jobs[i]) !=
            jobs.begin() + static_cast<std::ptrdiff_t>(i))
            continue;
        if (const auto done = delete_job(server, jobs[i]); !done)
            failed.failed.push_back({jobs[i], static_cast<std::uint32_t>(done.error().code)});
    }
    Reply reply;
    reply.body = std::move(failed);
    return reply;
}

ifl::Result<void> alter(SimulatedServer& server, std::uint64_t job, const ifl::Attribute& attribute) {
    if (values::same_word(attribute.name, "comment")) {
        server.comment(job, attribute.value);
        return {};
    }
    if (values::same_word(attribute.name, "estimated") &&
        values::same_word(attribute.resource, "start_time")) {
        const auto start = values::number<std::int64_t>(attribute.value);
        if (!start || *start < 0)
            return fail(PBSE_BADATVAL,
                        fmt::format("estimated.start_time: found '{}', expected seconds since the Epoch",
                                    attribute.value));
        server.estimate(job, Instant(Seconds(*start)));
        return {};
    }
    return fail(PBSE_NOSUP, fmt::format("{}: in a simulation, a program alters the comment and "
                                        "estimated.start_time of jobs alone",
                                        attribute.name));
}

Reply answer_alteration(SimulatedServer& server, const ifl::Manage& asked) {
    const auto job = find_job(server, asked.object);
    if (!job) return reply_of(tl::unexpected(job.error()));
    for (std::size_t i = 0; i < asked.attributes.size(); ++i) {
        const auto done = alter(server, *job, asked.attributes[i]);
        if (done) continue;
        Reply reply = reply_of(done);
        reply.auxiliary = static_cast<std::int32_t>(i) + 1;
        return reply;
    }
    return Reply::ok();
}

bool is_wanted(const ifl::Attribute& attribute, const ifl::Attributes& wanted) {
    return wanted.empty() || std::ranges::any_of(wanted, [&](const ifl::Attribute& one) {
               return values::same_word(one.name, attribute.name) &&
                      (one.resource.empty() || values::same_word(one.resource, attribute.resource));
           });
}

ifl::Attributes describe(const Room::Vnode& vnode, const Cluster& cluster) {
    constexpr const char* kAvailable = "resources_available";
    ifl::Attributes all = {{"Mom", "", vnode.host},
                           {"state", "", vnode.free ? "free" : "offline"},
                           {kAvailable, "host", vnode.host},
                           {kAvailable, "vnode", vnode.name}};
    for (const auto& [id, amount] : vnode.available) {
        const Cluster::Resource& resource = cluster.resources()[id];
        const bool size = resource.kind == sched::ResourceKind::size;
        all.push_back(
            {kAvailable, resource.name, size ? values::kilobytes_text(amount) : fmt::format("{}", amount)});
    }
    return all;
}

Packets answer_vnodes(const SimulatedServer& server, const ifl::Status& asked) {
    ifl::StatusReply status;
    for (const Room::Vnode& vnode : server.room().vnodes()) {
        if (!asked.object.empty() && asked.object != vnode.name) continue;
        ifl::Attributes shown = describe(vnode, server.cluster());
        std::erase_if(shown, [&](const ifl::Attribute& one) { return !is_wanted(one, asked.wanted); });
        status.objects.push_back({MGR_OBJ_NODE, vnode.name, std::move(shown)});
    }
    if (status.objects.empty()) return packets_of(Reply::error(PBSE_UNKNODE));
    return ifl::status_packets(std::move(status));
}

// Makes a reply of objects, each of which has a part of the text.
Packets text_packets(const std::string& sched, std::string_view text) {
    constexpr std::size_t kPart = std::size_t{256} << 10;
    ifl::StatusReply status;
    do {
        status.objects.push_back({MGR_OBJ_POLICY, sched, {{"text", "", std::string(text.substr(0, kPart))}}});
        text.remove_prefix(std::min(text.size(), kPart));
    } while (!text.empty());
    return ifl::status_packets(std::move(status));
}

Packets record_packets(SimulatedServer& server, const std::string& sched) {
    record::CycleAsked asked;
    asked.now = server.now();
    asked.sched = sched;
    asked.version = server.changes().version();
    const std::atomic<bool> never = false;
    std::string text;
    auto inspector = server.scheduler().inspect();
    record::record_cycle(
        inspector, asked, [&text](std::string_view part) { text += part; }, never);
    return text_packets(sched, text);
}

Packets changes_packets(SimulatedServer& server, ProgramSession& session, const std::string& sched,
                        std::int64_t version) {
    const auto some = server.changes().after(version, record::kMostChanges);
    if (!some) return packets_of(Reply::error(PBSE_HISTORY, record::too_old_text(version)));
    if (some->objects.empty()) session.polled = version;
    const std::atomic<bool> never = false;
    return text_packets(sched,
                        record::changes_text(server.scheduler().inspect(), *some, server.now(), never));
}

Packets answer_changes(SimulatedServer& server, ProgramSession& session, const std::string& sched,
                       std::string_view extend) {
    const auto asked = ifl::read_changes(extend);
    if (!asked) return packets_of(reply_of(tl::unexpected(asked.error())));
    session.schedules = true;
    const bool nothing_new = asked->version == server.changes().version();
    Seconds timeout = std::min<Seconds>(ifl::kLongestChangesWait, Seconds(asked->timeout));
    if (nothing_new && session.polled == asked->version) timeout = std::max(timeout, kPollWait);
    if (!nothing_new || timeout == Seconds(0)) return changes_packets(server, session, sched, asked->version);
    session.wait = ProgramSession::Wait{server.now() + timeout, asked->version, sched, false};
    return {};
}

Packets answer_record(SimulatedServer& server, ProgramSession& session, const std::string& sched) {
    const std::int64_t version = server.changes().version();
    if (session.recorded == version) {
        session.schedules = true;
        session.wait = ProgramSession::Wait{server.now() + kPollWait, version, sched, true};
        return {};
    }
    session.recorded = version;
    return record_packets(server, sched);
}

// Answers pbs_asks(): explains a start at the place that the attribute "location" names.
Packets answer_asks(SimulatedServer& server, const ifl::Status& asked) {
    constexpr const char* kPlace = "location";
    if (asked.wanted.size() != 1 || asked.wanted[0].name != kPlace)
        return packets_of(Reply::error(PBSE_IVALREQ, "location: expected one attribute, the place"));
    const auto job = find_job(server, asked.object);
    if (!job) return packets_of(reply_of(tl::unexpected(job.error())));
    const std::string& where = asked.wanted[0].value;
    OwnPlaces named;
    if (!where.empty()) {
        auto read = read_tested(server, where, *job);
        if (!read) return packets_of(reply_of(tl::unexpected(read.error())));
        named = *std::move(read);
    }
    sched::Explanation found;
    const sched::JobHandle handle = handle_of(static_cast<std::uint32_t>(*job));
    if (server.scheduler().test_start(server.now(), handle, named.places, &found).list.empty())
        return packets_of(Reply::error(PBSE_UNKJOBID));
    ifl::StatusReply status;
    for (record::ExplainedObject& object : record::explained_objects(found)) {
        ifl::Attributes shown;
        for (auto& [name, value, resource] : object.attributes)
            shown.push_back({std::move(name), std::move(resource), std::move(value)});
        status.objects.push_back({MGR_OBJ_JOB, std::move(object.name), std::move(shown)});
    }
    status.objects[0].attributes.push_back({kPlace, "", where});
    return ifl::status_packets(std::move(status));
}

Reply not_simulated(std::string_view what) {
    return Reply::error(PBSE_NOSUP, fmt::format("a simulation doesn't answer this request: {}", what));
}

}  // namespace

Reply ProgramRequests::register_scheduler(const SimulatedServer& server, ProgramSession& session,
                                          const std::string& sched, bool plain) {
    if (!plain) return Reply::error(PBSE_IVALREQ, "registration: expected no attributes and no options");
    const auto [entry, is_new] = registered_.try_emplace(sched, Registration{&session, server.now()});
    if (!is_new && entry->second.session != &session)
        return Reply::error(PBSE_SCHEDCONNECTED,
                            fmt::format("another connection has been registered as scheduler {} since {}",
                                        sched, entry->second.since.time_since_epoch().count()));
    session.schedules = true;
    Reply reply;
    reply.body = ifl::StatusReply{};
    return reply;
}

void ProgramRequests::forget(const ProgramSession& session) {
    std::erase_if(registered_, [&](const auto& one) { return one.second.session == &session; });
}

Packets ProgramRequests::answer_status(SimulatedServer& server, ProgramSession& session,
                                       const ifl::Request& request) {
    const auto& asked = std::get<ifl::Status>(request.body);
    const std::string_view extend = request.extend;
    const auto end = std::min(extend.find(';'), extend.size());
    const std::string_view kind = extend.substr(0, end);
    const std::string_view rest = extend.substr(std::min(end + 1, extend.size()));
    if (kind == "object=explanation" && rest == "location") return answer_asks(server, asked);
    const bool registration = kind == "object=registration";
    const bool changes = kind == "object=changes";
    if (!registration && !changes && kind != "object=record")
        return packets_of(not_simulated(kind.empty() ? ifl::request_name(request.type) : kind));
    const std::string sched = asked.object.empty() ? "default" : asked.object;
    if (std::ranges::find(server.cluster().scheds(), sched, &Cluster::Sched::name) ==
        server.cluster().scheds().end())
        return packets_of(Reply::error(PBSE_UNKSCHED));
    const bool plain = rest.empty() && asked.wanted.empty();
    if (registration) return packets_of(register_scheduler(server, session, sched, plain));
    if (changes) return answer_changes(server, session, sched, rest);
    if (!plain)
        return packets_of(Reply::error(
            PBSE_IVALREQ, "a record is given whole: expected no attributes, and in a simulation no options"));
    return answer_record(server, session, sched);
}

Packets ProgramRequests::answer(SimulatedServer& server, ProgramSession& session,
                                const ifl::Request& request) {
    Reply reply;
    switch (request.type) {
        case RequestType::connect:
            break;
        case RequestType::status_scheduler:
            return answer_status(server, session, request);
        case RequestType::status_node:
            return answer_vnodes(server, std::get<ifl::Status>(request.body));
        case RequestType::run_job:
        case RequestType::async_run_job:
        case RequestType::run_job_acknowledged:
            reply = answer_start(server, request);
            break;
        case RequestType::rerun_job:
            reply = answer_rerun(server, std::get<ifl::JobId>(request.body).job);
            break;
        case RequestType::signal_job:
            reply = reply_of(signal_job(server, std::get<ifl::SignalJob>(request.body)));
            break;
        case RequestType::delete_job:
            reply = reply_of(delete_job(server, std::get<ifl::Manage>(request.body).object));
            break;
        case RequestType::delete_job_list:
            reply = answer_deletions(server, std::get<ifl::DeleteJobList>(request.body).jobs);
            break;
        case RequestType::modify_job:
        case RequestType::modify_job_async:
            reply = answer_alteration(server, std::get<ifl::Manage>(request.body));
            break;
        default:
            reply = not_simulated(ifl::request_name(request.type));
    }
    if (!ifl::has_reply(request.type)) return {};
    return packets_of(reply);
}

Packets ProgramRequests::end_wait(SimulatedServer& server, ProgramSession& session) {
    const ProgramSession::Wait wait = *std::exchange(session.wait, std::nullopt);
    Packets packets = wait.for_record ? record_packets(server, wait.sched)
                                      : changes_packets(server, session, wait.sched, wait.version);
    session.polled.reset();
    session.recorded.reset();
    if (wait.for_record) session.recorded = server.changes().version();
    return packets;
}

}  // namespace pbs::simulate

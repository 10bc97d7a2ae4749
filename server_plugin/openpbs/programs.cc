#include "server_plugin/openpbs/programs.h"

#include <fmt/format.h>

#include <algorithm>

#include "ifl/pbs_error.h"
#include "ifl/program_requests.h"
#include "values/indices.h"

namespace pbs::openpbs {
namespace {

constexpr std::string_view kAtPlace = "object=explanation;location";

// Returns the reply with the error of a test of a start; none: the test has to be called again.
std::optional<ifl::Reply> failed(const ifl::Error& error) {
    if (error.code == PBSE_TRYAGAIN) return std::nullopt;
    // Too much has changed during the test.
    const int code = error.code == PBSE_OBJBUSY ? PBSE_TRYAGAIN : error.code;
    return ifl::Reply::error(code, error.message);
}

ifl::Reply refused(const ifl::Error& error) {
    return ifl::Reply::error(error.code, error.message);
}

std::string sched_of_request(const ifl::Status& body) {
    return body.object.empty() ? "default" : body.object;
}

}  // namespace

ifl::Result<void> Programs::check_sched(const std::string& sched) const {
    if (!site_.scheds.contains(sched)) return tl::unexpected(ifl::Error{PBSE_UNKSCHED, {}});
    if (scheduling_.is_own(sched)) return {};
    return tl::unexpected(
        ifl::Error{PBSE_NOSUP, fmt::format("the policy of scheduler {} leaves its jobs to pbs_sched; with "
                                           "external_program = ifl it leaves them to a program of the site",
                                           sched)});
}

std::optional<ifl::Reply> Programs::objection_to_test() const {
    const auto is_own = [this](const auto& sched) { return scheduling_.is_own(sched.first); };
    if (!site_.scheds.empty() && std::ranges::none_of(site_.scheds, is_own))
        return refused(check_sched(site_.scheds.begin()->first).error());
    if (!scheduling_.knows()) return std::nullopt;
    return ifl::Reply::ok();
}

ifl::Reply Programs::enter(std::int64_t now, const Ask& asked, const Identity& who) {
    const auto& body = std::get<ifl::Status>(asked.request.body);
    if (!who.manager()) return ifl::Reply::error(PBSE_PERM);
    if (asked.request.extend != "object=registration" || !body.wanted.empty())
        return ifl::Reply::error(PBSE_IVALREQ, "registration: expected no attributes and no options");
    const std::string sched = sched_of_request(body);
    if (const auto may = check_sched(sched); !may) return refused(may.error());
    const auto known = entered_.find({asked.ticket, sched});
    client::Registrations::Held held = known == entered_.end() ? nullptr : known->second;
    const auto added = scheduling_.registrations().add(sched, {who.at_host(), now}, held);
    if (!added) return refused(added.error());
    entered_[{asked.ticket, sched}] = std::move(held);
    if (*added) log_(fmt::format("sched {}: {} has registered as the scheduler", sched, who.at_host()));
    ifl::Reply reply;
    reply.body = ifl::StatusReply{};
    return reply;
}

ifl::Result<std::string> Programs::begin_wait(const Ask& asked, std::string_view extend,
                                              const Identity& who) {
    if (!who.manager()) return tl::unexpected(ifl::Error{PBSE_PERM, {}});
    if (auto may = check_sched(sched_of_request(std::get<ifl::Status>(asked.request.body))); !may)
        return tl::unexpected(may.error());
    const auto changes = ifl::read_changes(extend);
    if (!changes) return tl::unexpected(changes.error());
    waiting_[asked.ticket] = {
        changes->version,
        Clock::now() + std::min<std::chrono::seconds>(kLongestWait, std::chrono::seconds(changes->timeout))};
    return fmt::format("version={}", changes->version);
}

bool Programs::waits(std::uint64_t ticket) const {
    const auto found = waiting_.find(ticket);
    return found != waiting_.end() && plugin_.last_change() == found->second.version &&
           Clock::now() < found->second.until;
}

std::chrono::milliseconds Programs::patience() const {
    auto least = std::chrono::milliseconds::max();
    for (const auto& [ticket, one] : waiting_) {
        if (!waits(ticket)) return std::chrono::milliseconds(0);
        least = std::min(least, std::chrono::ceil<std::chrono::milliseconds>(one.until - Clock::now()));
    }
    return least;
}

std::optional<ifl::Reply> Programs::start(std::int64_t now, const Ask& asked, const Identity& who) {
    const auto& body = std::get<ifl::RunJob>(asked.request.body);
    const auto at = [](std::string place) {
        ifl::Reply reply;
        reply.body = ifl::TextReply{std::move(place)};
        return reply;
    };
    if (const auto checked = ifl::is_checked(asked.request.extend); !checked) return refused(checked.error());
    if (const auto no = objection_to_test(); !no || no->code != 0) return no;
    const Job* job = plugin_.records().job(plugin_.records().explained(body.job));
    if (job == nullptr) return ifl::Reply::error(PBSE_UNKJOBID);
    if (job->runs()) return ifl::Reply::error(PBSE_BADSTATE);
    const std::int64_t index = values::index_in(body.job);
    if (job->array && index < 0) return ifl::Reply::error(PBSE_IVALREQ);  // only its subjobs can be started
    if (scheduling_.decides()) return std::nullopt;
    auto tested = plugin_.test_start(now, *job, body.destination, who.user, asked.ticket, nullptr);
    if (!tested) return failed(tested.error());
    Decision& decision = *tested;
    if (decision.kind != Decision::Kind::run)
        return ifl::Reply::error(PBSE_RESCUNAV, std::string(ifl::reason_in(decision.text)));
    if (body.destination.empty() && !decision.set_resources.empty())
        return ifl::Reply::error(PBSE_NOSUP, fmt::format("the start would decide the job's {}: name a place",
                                                         decision.set_resources.front().first));
    decision.set_resources.clear();
    decision.queue.clear();
    decision.job = job->array ? cluster::subjob_id(job->id, fmt::format("{}", index)) : job->id;
    granted_[asked.ticket] = {decision.job, *job};
    scheduling_.starts(decision);
    return at(decision.exec_vnode);
}

std::optional<ifl::Reply> Programs::explain(std::int64_t now, const Ask& asked, const Identity& who,
                                            std::vector<ifl::ObjectStatus>& objects) {
    const auto& body = std::get<ifl::Status>(asked.request.body);
    if (!who.manager()) return ifl::Reply::error(PBSE_PERM);
    if (asked.request.extend != kAtPlace || body.wanted.size() != 1 || body.wanted[0].name != "location")
        return ifl::Reply::error(
            PBSE_IVALREQ, fmt::format("'{}': expected the attribute location, whose value is the place",
                                      asked.request.extend.substr(0, 100)));
    const std::string& location = body.wanted[0].value;
    if (const auto no = objection_to_test(); !no || no->code != 0) return no;
    const Job* job = plugin_.records().job(plugin_.records().explained(body.object));
    if (job == nullptr) return ifl::Reply::error(PBSE_UNKJOBID);
    const auto decision = plugin_.test_start(now, *job, location, who.user, asked.ticket, &objects);
    if (!decision) return failed(decision.error());
    if (!objects.empty()) objects[0].attributes.push_back({"location", "", location, ifl::Op::set});
    return ifl::Reply::ok();
}

void Programs::handled(std::uint64_t ticket) {
    const auto found = granted_.find(ticket);
    if (found == granted_.end()) return;
    scheduling_.handled(found->second.job);
    granted_.erase(found);
}

void Programs::give_up(std::uint64_t ticket) {
    std::erase_if(entered_, [ticket](const auto& one) { return one.first.first == ticket; });
    waiting_.erase(ticket);
    const auto found = granted_.find(ticket);
    if (found == granted_.end()) return;
    scheduling_.not_started(found->second.job, found->second.before);
    granted_.erase(found);
}

}  // namespace pbs::openpbs

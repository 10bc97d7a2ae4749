#include "server_plugin/host/peers/deliveries.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/change/change.h"
#include "server_plugin/host/life/depend.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/peers/peer_link.h"
#include "server_plugin/host/store/store.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

// The longest time that a delivery waits while nothing comes from the other server.
constexpr std::chrono::seconds kRetryFor{30};
constexpr std::chrono::seconds kFirstPause{5};
constexpr std::chrono::seconds kLongestPause{300};
constexpr std::size_t kMostDeliveries = 16;
constexpr uint32_t kScriptFile = 0;

// After these replies it isn't known whether the other server has the job, because it may send them before it
// looks for the job.
constexpr std::array kUndecided = {PBSE_PERM,     PBSE_BADCRED,  PBSE_BADHOST,    PBSE_SVRDOWN, PBSE_SYSTEM,
                                   PBSE_INTERNAL, PBSE_PROTOCOL, PBSE_NOCONNECTS, PBSE_TRYAGAIN};

// Returns whether the attribute is sent to the other server, which computes all other attributes itself.
bool is_sent(const AttributeDef& def) {
    if ((def.flags & computed) != 0 || def.name == "comment") return false;
    return (def.flags & (kAllWrites | at_creation)) != 0 || def.name == "Job_Owner" ||
           def.name == "hop_count";
}

ifl::Attributes attributes_of(const Job& job) {
    ifl::Attributes out;
    for (const AttributeValue& value : job.attributes.values()) {
        if (!is_sent(*value.def())) continue;
        if (value.def()->name == "Resource_List" && job.is_defaulted(value.resource())) continue;
        out.push_back({.name = std::string(value.def()->name),
                       .resource = std::string(value.resource()),
                       .value = std::string(value.value())});
    }
    out.push_back({.name = "ctime", .value = fmt::format("{}", job.ctime)});
    return out;
}

Result<void> may_leave(const Job& job, const State& state) {
    const char* why = job.is_array()    ? "a job array"
                      : job.is_subjob() ? "a subjob"
                      : job.attributes.has("interactive") || job.attributes.has("block")
                          ? "a job that a qsub waits for"
                      : !shown_depend(job, state).empty() ? "a job with dependencies"
                                                          : nullptr;
    if (why == nullptr) return {};
    return fail(PBSE_NOSUP,
                fmt::format("No support for requested service: moving {} to another server", why));
}

void return_to_queue(Change& change, const Job& job) {
    Job& back = change.job(job);
    advance(back, JobEvent::returned, change.server().state, change.now());
    change.want_cycle(PBS_SCH_SCHEDULE_NEW);
}

}  // namespace

struct Deliveries::Delivery {
    uint64_t job = 0;
    std::string id;
    std::string queue;
    ServerName to;
    std::string by;
    std::shared_ptr<Outcome> outcome = std::make_shared<Outcome>();
    std::shared_ptr<PeerLink> link{};  // null: no request is under way
    std::string script{};
    std::size_t sent = 0;  // the bytes of the script that are sent
    uint32_t pieces = 0;
    bool may_be_there = false;  // a Commit was sent, perhaps by an earlier process
    int failures = 0;
    Steady::time_point next{};  // the time of the next attempt

    std::string destination() const { return fmt::format("{}@{}", queue, to.text()); }
};

Deliveries::Deliveries(uv_loop_t* loop, Server& server) : loop_(loop), server_(server) {}
Deliveries::~Deliveries() = default;

Result<std::shared_ptr<const Deliveries::Outcome>> Deliveries::begin(const Job& job, std::string_view queue,
                                                                     const ServerName& to, std::string by) {
    if (auto ok = may_leave(job, server_.state); !ok) return tl::unexpected(ok.error());
    auto delivery = std::make_unique<Delivery>();
    delivery->job = job.handle;
    delivery->id = job.id;
    delivery->queue = queue;
    delivery->to = to;
    delivery->by = std::move(by);
    Change change(server_, server_.now());
    Job& leaving = change.job(job);
    advance(leaving, JobEvent::leaves, server_.state, change.now(), delivery->destination());
    if (auto done = change.commit(); !done) return tl::unexpected(done.error());
    std::shared_ptr<const Outcome> outcome = delivery->outcome;
    Delivery& begun = *deliveries_.insert_or_assign(delivery->job, std::move(delivery)).first->second;
    try_again(begun);
    return outcome;
}

Deliveries::Delivery* Deliveries::find(uint64_t job, const PeerLink* link) {
    const auto at = deliveries_.find(job);
    return at == deliveries_.end() || at->second->link.get() != link ? nullptr : at->second.get();
}

// Sends a request, and calls `handle` with its reply. Ignores the reply if the link was given up meanwhile,
// and a reply about a job that a manager has deleted by force.
template <typename Handle>
void Deliveries::ask(Delivery& delivery, ifl::RequestType type, ifl::RequestBody&& body, Handle handle) {
    const std::shared_ptr<PeerLink> link = delivery.link;
    link->ask(type, std::move(body),
              [this, job = delivery.job, asked = link.get(), handle](const ifl::Result<ifl::Reply>& reply) {
                  Delivery* const found = closing_ ? nullptr : find(job, asked);
                  if (found == nullptr) return;
                  if (leaves(job))
                      (this->*handle)(*found, reply);
                  else
                      end(*found, ifl::Reply::error(PBSE_UNKJOBID));
              });
}

bool Deliveries::leaves(uint64_t handle) const {
    const Job* job = server_.state.job(handle);
    return job != nullptr && job->is_leaving();
}

// Tries a delivery again. If too many are under way, does nothing: a later look() tries it.
void Deliveries::try_again(Delivery& delivery) {
    const auto under_way =
        std::ranges::count_if(deliveries_, [](const auto& one) { return one.second->link != nullptr; });
    if (static_cast<std::size_t>(under_way) < kMostDeliveries) attempt(delivery);
}

void Deliveries::attempt(Delivery& delivery) {
    if (!leaves(delivery.job)) return end(delivery, ifl::Reply::error(PBSE_UNKJOBID));
    const Job* job = server_.state.job(delivery.job);
    auto script = server_.parts.store.script(job->sequence);
    if (!script) return lost(delivery, script.error().message);
    delivery.script = std::move(*script);
    delivery.sent = 0;
    delivery.pieces = 0;
    ifl::QueueJob body{delivery.id, delivery.queue, attributes_of(*job)};
    delivery.link = PeerLink::open(loop_, server_, delivery.to, kRetryFor);
    ask(delivery, ifl::RequestType::queue_job, std::move(body), &Deliveries::queued);
}

void Deliveries::queued(Delivery& delivery, const ifl::Result<ifl::Reply>& reply) {
    if (!reply) return lost(delivery, reply.error().message);
    if (reply->code == 0) return send_script(delivery);
    if (reply->code == PBSE_JOBEXIST && delivery.may_be_there) return arrived(delivery);
    refused(delivery, *reply);
}

void Deliveries::send_script(Delivery& delivery) {
    if (delivery.sent == delivery.script.size()) return send_commit(delivery);
    const std::size_t size = std::min(ifl::kScriptChunk, delivery.script.size() - delivery.sent);
    ifl::JobScript piece{delivery.pieces++, kScriptFile, delivery.id,
                         delivery.script.substr(delivery.sent, size)};
    delivery.sent += size;
    ask(delivery, ifl::RequestType::job_script, std::move(piece), &Deliveries::queued);
}

void Deliveries::send_commit(Delivery& delivery) {
    if (!delivery.may_be_there) {
        Change change(server_, server_.now());
        advance(change.job(*server_.state.job(delivery.job)), JobEvent::commit_sent, server_.state,
                change.now());
        if (auto done = change.commit(); !done) return lost(delivery, done.error().message);
        delivery.may_be_there = true;
    }
    ask(delivery, ifl::RequestType::commit, ifl::JobId{delivery.id}, &Deliveries::committed);
}

void Deliveries::committed(Delivery& delivery, const ifl::Result<ifl::Reply>& reply) {
    if (!reply) return lost(delivery, reply.error().message);
    if (reply->code == 0 || reply->code == PBSE_JOBEXIST) return arrived(delivery);
    refused(delivery, *reply);
}

void Deliveries::refused(Delivery& delivery, const ifl::Reply& reply) {
    const bool undecided = std::ranges::find(kUndecided, reply.code) != kUndecided.end();
    if (undecided && delivery.may_be_there) return lost(delivery, text_of(reply));
    take_back(delivery,
              ifl::Reply::error(reply.code, fmt::format("{}: {}", delivery.to.text(), text_of(reply))));
}

void Deliveries::lost(Delivery& delivery, const std::string& why) {
    const std::string text = fmt::format("{}: {}", delivery.to.text(), why);
    if (!delivery.may_be_there) return take_back(delivery, ifl::Reply::error(PBSE_NOSERVER, text));
    if (delivery.link != nullptr) std::exchange(delivery.link, nullptr)->close(why);
    delivery.next = Steady::now() + pause_after_failure(delivery.failures, kFirstPause, kLongestPause);
    const std::string told =
        fmt::format("it is not known whether {} has got the job ({}): it will be asked again",
                    delivery.destination(), text);
    if (delivery.failures++ == 0) server_.parts.log.job(delivery.id, told);
    if (!delivery.outcome->reply) delivery.outcome->reply = ifl::Reply::error(PBSE_SYSTEM, told);
}

void Deliveries::arrived(Delivery& delivery) {
    Change change(server_, server_.now());
    Job& job = change.job(*server_.state.job(delivery.job));
    retire(change, job, JobEvent::moved);
    change.then([&log = server_.parts.log, id = delivery.id,
                 text = fmt::format("Job moved to {} at request of {}", delivery.destination(),
                                    delivery.by)] { log.job(id, text); });
    change.want_cycle(PBS_SCH_SCHEDULE_TERM);
    // If the commit fails, lost() has the other server asked again. It then answers that it has the job.
    if (auto done = change.commit(); !done) return lost(delivery, done.error().message);
    end(delivery, ifl::Reply::ok());
}

void Deliveries::take_back(Delivery& delivery, ifl::Reply why) {
    Change change(server_, server_.now());
    return_to_queue(change, *server_.state.job(delivery.job));
    if (auto done = change.commit(); !done) {
        // The job stays in state T. A later attempt returns it to its queue, or sends it.
        server_.parts.log.error(delivery.id, done.error().message);
        if (delivery.link != nullptr) std::exchange(delivery.link, nullptr)->close("");
        delivery.next = Steady::now() + kFirstPause;
        if (!delivery.outcome->reply) delivery.outcome->reply = ifl::Reply::error(PBSE_SYSTEM);
        return;
    }
    server_.parts.log.job(delivery.id,
                          fmt::format("not moved to {}: {}", delivery.destination(), text_of(why)));
    end(delivery, std::move(why));
}

void Deliveries::end(Delivery& delivery, ifl::Reply reply) {
    if (!delivery.outcome->reply) delivery.outcome->reply = std::move(reply);
    const auto link = std::move(delivery.link);
    deliveries_.erase(delivery.job);
    if (link != nullptr) link->close("");
}

void Deliveries::look() {
    const auto now = Steady::now();
    std::vector<uint64_t> jobs;
    jobs.reserve(deliveries_.size());
    for (const auto& [job, delivery] : deliveries_) jobs.push_back(job);
    for (const uint64_t job : jobs) {
        const auto at = deliveries_.find(job);
        if (at == deliveries_.end()) continue;
        if (const auto link = at->second->link)
            link->look(now);
        else if (at->second->next <= now)
            try_again(*at->second);
    }
}

Result<void> Deliveries::recover() {
    if (server_.state.counts().counts.at(StateCounts::kLetters.find(job_state::kTransit)) == 0) return {};
    Change change(server_, server_.now());
    for (const auto& [handle, job] : server_.state.jobs()) {
        if (!job.is_leaving()) continue;
        const std::string_view destination = job.attributes.text("leaves_for");
        const auto at = destination.find('@');
        const auto to =
            at == std::string_view::npos ? std::nullopt : server_name_of(destination.substr(at + 1));
        if (job.substate == substate::kTransitOut || !to) {
            return_to_queue(change, job);
            continue;
        }
        auto delivery = std::make_unique<Delivery>();
        delivery->job = handle;
        delivery->id = job.id;
        delivery->queue = destination.substr(0, at);
        delivery->to = *to;
        delivery->by = "the server";
        delivery->may_be_there = true;
        deliveries_[handle] = std::move(delivery);
    }
    return change.commit();
}

void Deliveries::close() {
    closing_ = true;
    for (const auto& [job, delivery] : deliveries_)
        if (const auto link = std::move(delivery->link)) link->close("the server stops");
}

}  // namespace pbs::host

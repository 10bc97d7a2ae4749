#include "server_plugin/host/peers/peers.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/change/change.h"
#include "server_plugin/host/life/job_life.h"
#include "server_plugin/host/life/routing.h"
#include "server_plugin/host/peers/arrival.h"
#include "server_plugin/host/peers/peer_link.h"
#include "server_plugin/plugin/pbs_plugin.h"
#include "values/text.h"

namespace pbs::host {
namespace {

constexpr std::chrono::seconds kBetweenAsking{10};
constexpr std::chrono::seconds kLongestBetweenAsking{600};
// The longest times to wait for the list of queued jobs, for any data on a link, and for a move, which takes
// as long as the job needs to arrive.
constexpr std::chrono::seconds kAnswersWithin{10};
constexpr std::chrono::seconds kLinkPatience{60};
constexpr std::chrono::seconds kArrivesWithin{120};
constexpr std::chrono::seconds kNotAgainWithin{60};
constexpr std::size_t kMostListedJobs = 1000;                    // the most jobs taken from a remote queue
constexpr std::size_t kMostListedBytes = std::size_t{16} << 20;  // most bytes of the attributes of these jobs

// The attributes of a job that are requested from the other server.
constexpr const char* kWanted[] = {"Job_Owner",
                                   "Job_Name",
                                   "Resource_List",
                                   "Priority",
                                   "project",
                                   "Account_Name",
                                   "User_List",
                                   "group_list",
                                   "ctime",
                                   "qtime",
                                   "etime",
                                   "interactive",
                                   "block",
                                   "depend",
                                   "array",
                                   "array_id",
                                   "array_indices_submitted",
                                   "hop_count",
                                   "Rerunable",
                                   "Variable_List"};

ifl::ObjectStatus copy_of(const ifl::ObjectView& view) {
    ifl::ObjectStatus object{view.type, std::string(view.name), {}};
    for (const ifl::AttributeView& attribute : view.attributes)
        object.attributes.push_back({.name = std::string(attribute.name),
                                     .resource = std::string(attribute.resource),
                                     .value = std::string(attribute.value)});
    return object;
}

std::size_t size_of(const ifl::ObjectView& view) {
    std::size_t size = view.name.size();
    for (const ifl::AttributeView& attribute : view.attributes)
        size += attribute.name.size() + attribute.resource.size() + attribute.value.size();
    return size;
}

// Reads an instant by the other server's clock, which may be ahead. Returns `now` if the instant is later
// than that, or is missing.
int64_t instant_of(const ifl::ObjectStatus& object, std::string_view name, int64_t now) {
    for (const ifl::Attribute& attribute : object.attributes) {
        if (attribute.name != name) continue;
        const auto value = canonical(Type::integer, attribute.value);
        if (value) return std::clamp<int64_t>(amount_of(Type::integer, *value), 1, now);
    }
    return now;
}

// Returns the resources in `shown` without the sums over chunks, because a job can't request those together
// with a select.
ifl::Attributes without_sums(const ifl::Attributes& shown, const State& state) {
    const auto is_sum = [&](const ifl::Attribute& attribute) {
        if (attribute.name != "Resource_List" || attribute.resource == "select") return false;
        const Resource* resource = state.resources.find(attribute.resource);
        return attribute.resource == "nodes" || attribute.resource == "nodect" ||
               (resource != nullptr && (resource->flags & resource_host) != 0);
    };
    ifl::Attributes out;
    std::ranges::copy_if(shown, std::back_inserter(out), [&](const auto& one) { return !is_sum(one); });
    return out;
}

bool is_loopback(std::string_view address) {
    return address == "::1" || address.starts_with("127.");
}

}  // namespace

struct Peers::Peer {
    ServerName name;
    std::set<Pair> queues;
    std::shared_ptr<PeerLink> link{};
    std::string address;    // the numeric address at which it was reached last
    std::size_t asked = 0;  // number of requests that it hasn't answered
    // The reason why the server refused the list of a queue; empty: it has refused none since it was asked
    // last.
    std::string refusal{};
    Steady::time_point asked_at{};
    Steady::time_point next{};  // when it will be asked next
    int failures = 0;           // number of failures since it last answered
    std::string trouble{};
    int64_t answered = 0;
};

struct Peers::RemoteJob {
    Job job;
    ServerName server;
    Pair queues;
    bool pulled = false;
    Steady::time_point pulled_at{};
};

Peers::Peers(uv_loop_t* loop, Server& server, std::function<void()> cycle_wanted)
    : loop_(loop), server_(server), cycle_wanted_(std::move(cycle_wanted)) {}
Peers::~Peers() = default;

void Peers::close() {
    closing_ = true;
    for (const auto& [name, peer] : peers_)
        if (const auto link = std::move(peer->link)) link->close("the server stops");
}

// Reads the peer servers and queues from the policies in force.
void Peers::refresh() {
    std::map<ServerName, std::set<Pair>> wanted;
    for (const auto& [sched, object] : server_.state.scheds()) {
        for (const PeerQueue& queue : server_.parts.plugin->peer_queues(server_.now(), sched)) {
            const auto name = server_name_of(queue.server);
            if (!name) continue;
            const bool here = server_.state.is_this_server(name->host) && name->port == server_.options.port;
            if (!here) wanted[*name].emplace(queue.here, queue.there);
        }
    }
    for (auto at = peers_.begin(); at != peers_.end();) {
        Peer& peer = *at->second;
        const auto still = wanted.find(at->first);
        for (const Pair& queues : peer.queues)
            if (still == wanted.end() || !still->second.contains(queues)) forget_of(peer, &queues);
        if (still != wanted.end()) {
            ++at;
            continue;
        }
        const auto link = std::move(peer.link);
        at = peers_.erase(at);
        if (link != nullptr) link->close("jobs are not pulled from it any more");
    }
    for (auto& [name, queues] : wanted) {
        auto& peer = peers_[name];
        if (peer == nullptr) peer = std::make_unique<Peer>();
        peer->name = name;
        if (peer->queues != queues) peer->next = {};
        peer->queues = std::move(queues);
    }
}

// Returns whether any job could start here at all. If not, other servers aren't asked for jobs.
bool Peers::may_have_room() const {
    const State& state = server_.state;
    const uint32_t ncpus = state.resources.find("ncpus")->id;
    return std::ranges::any_of(state.nodes(), [&](const auto& entry) {
        const Node& node = entry.second;
        if (node.state != node_free) return false;
        const Amounts& assigned = state.node_usage(node.handle).assigned;
        const auto used = assigned.find(ncpus);
        const int64_t has = amount_of(Type::integer, node.attributes.text("resources_available", "ncpus"));
        return (used == assigned.end() ? 0 : used->second) < has;
    });
}

void Peers::look() {
    if (closing_ || server_.parts.plugin == nullptr) return;
    refresh();
    const auto now = Steady::now();
    std::erase_if(not_again_before_, [&](const auto& entry) { return entry.second <= now; });
    std::vector<uint64_t> late;
    for (const auto& [handle, job] : jobs_)
        if (job->pulled && now - job->pulled_at >= kArrivesWithin) late.push_back(handle);
    for (const uint64_t handle : late)
        not_pulled(handle, fmt::format("it has not come within {} s", kArrivesWithin.count()));
    if (peers_.empty()) return;
    const bool room = !server_.winding_down() && may_have_room();
    for (const auto& [name, peer] : peers_) {
        const Peer* const asked = peer.get();
        if (const auto link = peer->link) {
            const bool pulls = std::ranges::any_of(jobs_, [&](const auto& entry) {
                return entry.second->pulled && entry.second->server == asked->name;
            });
            if (peer->asked != 0 && !pulls && now - peer->asked_at >= kAnswersWithin)
                link->close(fmt::format("no answer within {} s", kAnswersWithin.count()));
            link->look(now);
        }
        if (room && peer->asked == 0 && peer->next <= now) ask(*peer);
    }
}

void Peers::ask(Peer& peer) {
    if (peer.link == nullptr || peer.link->closed())
        peer.link = PeerLink::open(loop_, server_, peer.name, kLinkPatience);
    const std::shared_ptr<PeerLink> link = peer.link;
    peer.asked = peer.queues.size();
    peer.refusal.clear();
    peer.asked_at = Steady::now();
    // Use a copy, because an answer may come at once and change the original.
    const std::set<Pair> asked = peer.queues;
    for (const Pair& queues : asked) {
        ifl::Select select;
        select.criteria = {{.name = "destination", .value = queues.second, .op = ifl::Op::eq},
                           {.name = "job_state", .value = "Q", .op = ifl::Op::eq}};
        for (const char* name : kWanted) select.wanted.push_back({.name = name});
        const auto listed = std::make_shared<Listed>();
        link->ask(
            ifl::RequestType::select_status, std::move(select),
            [this, name = peer.name, from = link.get(), queues,
             listed](const ifl::Result<ifl::Reply>& reply) {
                if (!closing_) answered(name, from, queues, *listed, reply);
            },
            [listed, left = std::make_shared<std::size_t>(kMostListedBytes)](const ifl::ObjectView& object) {
                const std::size_t bytes = size_of(object);
                if (object.type != PBS_OBJ_JOB || listed->size() >= kMostListedJobs || bytes > *left) return;
                *left -= bytes;
                listed->push_back(copy_of(object));
            });
    }
}

void Peers::answered(const ServerName& name, const PeerLink* link, const Pair& queues, const Listed& listed,
                     const ifl::Result<ifl::Reply>& reply) {
    const auto at = peers_.find(name);
    if (at == peers_.end() || at->second->link.get() != link) return;
    Peer& peer = *at->second;
    if (!reply) {
        forget_of(peer, nullptr);
        peer.link.reset();
        peer.asked = 0;
        return failed(peer, reply.error().message);
    }
    peer.address = link->address();
    peer.answered = server_.now();
    if (reply->code == 0) {
        take(peer, queues, listed);
    } else {
        forget_of(peer, &queues);
        peer.refusal = fmt::format("queue {}: {}", queues.second, text_of(*reply));
    }
    if (--peer.asked != 0) return;
    if (!peer.refusal.empty()) return failed(peer, std::exchange(peer.refusal, {}));
    if (std::exchange(peer.failures, 0) > 0)
        server_.parts.log.write(LogEvent::sched, LogClass::server, name.text(),
                                "jobs are pulled from it again");
    peer.trouble.clear();
    peer.next = Steady::now() + kBetweenAsking;
}

// Notes that a server doesn't answer, and sets when it is asked again. Only the first failure in a row is
// logged.
void Peers::failed(Peer& peer, const std::string& why) {
    peer.next = Steady::now() + pause_after_failure(peer.failures, kBetweenAsking, kLongestBetweenAsking);
    if (peer.failures == 0)
        server_.parts.log.write(LogEvent::error, LogClass::server, peer.name.text(),
                                fmt::format("jobs can't be pulled from it: {}", why));
    ++peer.failures;
    peer.trouble = why;
}

// Makes the job as it would be on this server. Returns an error if it can't run here.
Result<Job> Peers::job_of(const ifl::ObjectStatus& object, const Pair& queues) const {
    const Queue* queue = server_.state.queue(queues.first);
    if (queue == nullptr || !queue->execution()) return fail(PBSE_UNKQUE);
    if (!is_legal_foreign_id(object.name)) return fail(PBSE_IVALREQ);
    if (server_.state.job(object.name) != nullptr) return fail(PBSE_JOBEXIST);
    Job job;
    job.id = object.name;
    job.sequence = kForeignMark;
    job.elsewhere = true;
    set_attribute(job, "foreign_id", object.name);
    size_t refused = 0;
    const ifl::Attributes asked = without_sums(object.attributes, server_.state);
    if (auto ok = take_attributes(job, asked, server_.state, refused); !ok) return tl::unexpected(ok.error());
    if (job.attributes.integer("hop_count", 0) >= kMostHops) return fail(PBSE_HOPCOUNT);
    const int64_t now = server_.now();
    Change trial(server_, now);
    if (auto ok = enter_queue(trial, job, *queue, Entry::submitted); !ok) return tl::unexpected(ok.error());
    job.ctime = instant_of(object, "ctime", now);
    job.qtime = instant_of(object, "qtime", now);
    job.etime = instant_of(object, "etime", now);
    job.mtime = job.etime;
    return job;
}

namespace {

// Returns whether the scheduler would be told the same of both jobs.
bool is_told_the_same(const Job& a, const Job& b) {
    const auto values = [](const Job& job) {
        std::map<std::pair<std::string_view, std::string_view>, std::string_view> all;
        for (const AttributeValue& value : job.attributes.values())
            all[{value.def()->name, value.resource()}] = value.value();
        return all;
    };
    return a.queue == b.queue && a.qtime == b.qtime && a.ctime == b.ctime && values(a) == values(b);
}

}  // namespace

void Peers::take(Peer& peer, const Pair& queues, const Listed& listed) {
    std::set<std::string> still;
    bool news = false;
    for (const ifl::ObjectStatus& object : listed) {
        const std::string id = values::lowered(object.name);
        const auto known = handles_.find(id);
        RemoteJob* job = known == handles_.end() ? nullptr : jobs_.at(known->second).get();
        // Skip a job that is already known from another server, or from another pair of queues (the peer's
        // queue and the one here to which it is pulled). The peer may have moved the job between its queues.
        // The job is taken from here once the list of the earlier pair lacks it.
        const bool own = job != nullptr && job->server == peer.name && job->queues == queues;
        if ((job != nullptr && (!own || job->pulled)) || not_again_before_.contains(id)) continue;
        auto made = job_of(object, queues);
        if (!made) continue;
        still.insert(id);
        if (job != nullptr && is_told_the_same(job->job, *made)) continue;
        made->handle = job != nullptr ? job->job.handle : server_.state.new_handle();
        auto& place = jobs_[made->handle];
        place = std::make_unique<RemoteJob>(RemoteJob{std::move(*made), peer.name, queues});
        handles_[id] = place->job.handle;
        tell(*place);
        news = true;
    }
    std::vector<uint64_t> gone;
    for (const auto& [handle, job] : jobs_)
        if (!job->pulled && job->server == peer.name && job->queues == queues &&
            !still.contains(values::lowered(job->job.id)))
            gone.push_back(handle);
    for (const uint64_t handle : gone) forget(handle);
    if (!news) return;
    server_.want_cycle(PBS_SCH_SCHEDULE_NEW);
    cycle_wanted_();
}

void Peers::tell(const RemoteJob& job) {
    if (server_.changed) server_.changed->jobs.insert(job.job.handle);
    server_.parts.plugin->job_changed(server_.now(), job.job, server_.state);
}

void Peers::forget(uint64_t job) {
    const auto at = jobs_.find(job);
    if (at == jobs_.end()) return;
    handles_.erase(values::lowered(at->second->job.id));
    jobs_.erase(at);
    if (server_.changed) server_.changed->jobs.insert(job);
    server_.parts.plugin->job_removed(server_.now(), job);
}

// Forgets a server's jobs from this pair of queues (null: from all pairs), except those that are being
// pulled.
void Peers::forget_of(const Peer& peer, const Pair* queues) {
    std::vector<uint64_t> gone;
    for (const auto& [handle, job] : jobs_)
        if (!job->pulled && job->server == peer.name && (queues == nullptr || job->queues == *queues))
            gone.push_back(handle);
    for (const uint64_t handle : gone) forget(handle);
}

uint64_t Peers::queue_of(uint64_t job) const {
    const auto at = jobs_.find(job);
    return at == jobs_.end() ? 0 : at->second->job.queue;
}

void Peers::pull(uint64_t handle, const std::vector<Place>& places) {
    const auto at = jobs_.find(handle);
    if (at == jobs_.end() || at->second->pulled || closing_) return;
    RemoteJob& job = *at->second;
    const auto peer = peers_.find(job.server);
    if (peer == peers_.end()) return forget(handle);
    job.pulled = true;
    job.pulled_at = Steady::now();
    advance(job.job, JobEvent::started, server_.state, server_.now());
    job.job.places = places;
    tell(job);
    std::shared_ptr<PeerLink>& link = peer->second->link;
    if (link == nullptr || link->closed()) link = PeerLink::open(loop_, server_, job.server, kLinkPatience);
    const std::shared_ptr<PeerLink> asked = link;
    // Name this server by its host, because it isn't known by which name the other server reaches it; if the
    // other server is on this machine, by localhost.
    const std::string_view host =
        is_loopback(peer->second->address) ? std::string_view("localhost") : server_.state.host_name;
    const std::string destination = fmt::format("{}@{}:{}", job.queues.first, host, server_.options.port);
    server_.parts.log.write(
        LogEvent::sched, LogClass::job, job.job.id,
        fmt::format("is pulled from {}@{} into {}", job.queues.second, job.server.text(), job.queues.first));
    asked->ask(ifl::RequestType::move_job, ifl::MoveJob{job.job.id, destination},
               [this, handle, name = job.server](const ifl::Result<ifl::Reply>& reply) {
                   if (closing_) return;
                   if (!reply) lost(name, reply.error().message);
                   not_pulled(handle, !reply             ? reply.error().message
                                      : reply->code != 0 ? text_of(*reply)
                                                         : "it was moved, and did not come here");
               });
}

// Call it after a failed move. Forgets the server's other jobs, because they couldn't be pulled, either,
// until the server answers again.
void Peers::lost(const ServerName& name, const std::string& why) {
    const auto at = peers_.find(name);
    if (at == peers_.end()) return;
    forget_of(*at->second, nullptr);
    if (at->second->trouble.empty()) failed(*at->second, why);
}

// Notes that a job couldn't be pulled. Does nothing if the job has arrived meanwhile, so that it isn't in
// jobs_.
void Peers::not_pulled(uint64_t handle, const std::string& why) {
    const auto at = jobs_.find(handle);
    if (at == jobs_.end()) return;
    const std::string id = at->second->job.id;
    server_.parts.log.write(LogEvent::sched, LogClass::job, id,
                            fmt::format("could not be pulled from {}: {}", at->second->server.text(), why));
    not_again_before_[values::lowered(id)] = Steady::now() + kNotAgainWithin;
    forget(handle);
    server_.want_cycle(PBS_SCH_SCHEDULE_TERM);
    cycle_wanted_();
}

void Peers::arrived(std::string_view id) {
    const auto at = handles_.find(values::lowered(id));
    if (at != handles_.end()) forget(at->second);
}

bool Peers::pulls_from(std::string_view host, std::string_view address, std::string_view queue) const {
    return std::ranges::any_of(peers_, [&](const auto& entry) {
        const Peer& peer = *entry.second;
        const bool there = same_name(peer.name.host, host) || (!address.empty() && peer.address == address);
        return there && std::ranges::any_of(
                            peer.queues, [&](const Pair& queues) { return same_name(queues.first, queue); });
    });
}

std::vector<Peers::PeerStatus> Peers::shown() const {
    std::vector<PeerStatus> all;
    for (const auto& [name, peer] : peers_) {
        PeerStatus& one = all.emplace_back();
        one.server = name.text();
        for (const auto& [here, there] : peer->queues)
            one.queues += fmt::format("{}{} from {}", one.queues.empty() ? "" : ", ", here, there);
        one.trouble = peer->trouble;
        one.answered = peer->answered;
        for (const auto& [handle, job] : jobs_) {
            if (job->server != name) continue;
            ++one.jobs;
            if (job->pulled) ++one.pulled;
        }
    }
    return all;
}

}  // namespace pbs::host

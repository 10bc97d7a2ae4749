// StatusSched with "object=diagnosis": shows the server's counters, its last cycles and slow requests, the
// users whose requests took most time, and the health of its disk and databases.
#include "server_plugin/host/requests/status_scheduler.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "ifl/pbs_error.h"
#include "server_plugin/host/base/clock.h"
#include "server_plugin/host/base/log.h"
#include "server_plugin/host/base/posix.h"
#include "server_plugin/host/base/version.h"
#include "server_plugin/host/change/counters.h"
#include "server_plugin/host/peers/peers.h"
#include "server_plugin/host/requests/common.h"
#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::host {
namespace {

using std::chrono::microseconds;

constexpr std::size_t kMostUsersShown = 20;

ifl::ObjectStatus object(std::string name) {
    return {PBS_OBJ_DIAGNOSIS, std::move(name), {}};
}

template <class Value>
void add(ifl::ObjectStatus& to, std::string name, const Value& value, std::string of = {}) {
    to.attributes.push_back(ifl::Attribute{std::move(name), std::move(of), fmt::format("{}", value)});
}

std::int64_t us(std::chrono::nanoseconds duration) {
    return std::chrono::duration_cast<microseconds>(duration).count();
}

void add_counters(Context& context, ifl::StatusReply& status) {
    const Server& server = context.server;
    ifl::ObjectStatus all = object("counters");
    add(all, "version", server_version());
    add(all, "started", server.started);
    add(all, "now", context.now);
    for (Counters::Value& value : server.counters.values())
        add(all, std::string(value.name), value.value, std::move(value.of));
    for (const auto& [name, queue] : server.state.queues())
        add(all, "queue", server.state.queue_counts(queue.handle).text(), name);
    const NodeCounts& nodes = server.state.node_counts();
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (nodes.at(i) != 0)
            add(all, "vnodes", nodes.at(i),
                i == node_free ? "free" : node_state_words(static_cast<uint32_t>(i)));
    add(all, "log_lines_lost", server.parts.log.lost());
    status.objects.push_back(std::move(all));
}

void add_cycles(Context& context, ifl::StatusReply& status) {
    for (const CycleNote& note : context.server.counters.last_cycles()) {
        ifl::ObjectStatus one = object("cycle");
        add(one, "sched", note.sched);
        add(one, "trigger", trigger_name(note.trigger));
        add(one, "began", note.began);
        add(one, "deciding_us", us(note.deciding));
        add(one, "carrying_out_us", us(note.carrying));
        add(one, "considered", note.considered);
        for (std::size_t i = 0; i < note.decisions.size(); ++i)
            add(one, "decisions", note.decisions.at(i), std::string(decision_name(i)));
        add(one, "dropped", note.dropped);
        if (note.failed) add(one, "failed", "True");
        status.objects.push_back(std::move(one));
    }
}

void add_requests(Context& context, ifl::StatusReply& status) {
    for (const RequestNote& note : context.server.counters.slow_requests()) {
        ifl::ObjectStatus one = object("request");
        add(one, "type", ifl::request_name(note.type));
        add(one, "who", note.who);
        if (!note.object.empty()) add(one, "object", note.object);
        add(one, "at", note.at);
        add(one, "took_us", us(note.took));
        status.objects.push_back(std::move(one));
    }
}

// Adds the users whose requests have taken most of the server's time.
void add_users(Context& context, ifl::StatusReply& status) {
    const auto& users = context.server.counters.users();
    std::vector<std::pair<std::string, Counters::User>> most(std::min(users.size(), kMostUsersShown));
    std::partial_sort_copy(users.begin(), users.end(), most.begin(), most.end(),
                           [](const auto& a, const auto& b) { return a.second.took > b.second.took; });
    for (const auto& [name, user] : most) {
        ifl::ObjectStatus one = object("user");
        add(one, "who", name);
        add(one, "requests", user.requests);
        add(one, "took_us", us(user.took));
        status.objects.push_back(std::move(one));
    }
}

void add_peers(Context& context, ifl::StatusReply& status) {
    if (context.server.peers == nullptr) return;
    for (const Peers::PeerStatus& peer : context.server.peers->shown()) {
        ifl::ObjectStatus one = object("peer");
        add(one, "server", peer.server);
        add(one, "queues", peer.queues);
        if (peer.answered != 0) add(one, "answered", peer.answered);
        if (!peer.trouble.empty()) add(one, "trouble", peer.trouble);
        add(one, "jobs", peer.jobs);
        add(one, "pulled", peer.pulled);
        status.objects.push_back(std::move(one));
    }
}

// Adds the health of the disk, the databases and this process, with sizes in bytes. For an unknown value,
// adds `error` with the reason.
void add_health(Context& context, ifl::StatusReply& status) {
    const Server& server = context.server;
    ifl::ObjectStatus one = object("health");
    const auto error = [&one](const std::string& what) {
        add(one, "error", fmt::format("{}: {}", what, system_text(errno)));
    };
    const std::string folder = server.options.home + "/server_priv";
    for (const std::string name : {"server.db", "server.db-wal", "policy.db", "policy.db-wal"}) {
        struct stat info {};
        if (::stat((folder + "/" + name).c_str(), &info) == 0) {
            add(one, "file", info.st_size, name);
        } else if (!name.ends_with("-wal")) {
            error(folder + "/" + name);
        }
    }
    struct statvfs disk {};
    if (::statvfs(folder.c_str(), &disk) == 0) {
        add(one, "disk", disk.f_blocks * disk.f_frsize, "size");
        add(one, "disk", disk.f_bavail * disk.f_frsize, "free");
        add(one, "disk", disk.f_files, "inodes");
        add(one, "disk", disk.f_favail, "free_inodes");
    } else {
        error(folder);
    }
    add(one, "home", server.options.home);
    add(one, "pid", ::getpid());
    add(one, "clock_offset",
        std::chrono::duration_cast<std::chrono::seconds>(server.parts.clock.offset()).count());
    std::istringstream statm(read_file("/proc/self/statm").value_or(""));
    if (unsigned long pages = 0, resident = 0; statm >> pages >> resident)
        add(one, "memory", resident * static_cast<unsigned long>(::sysconf(_SC_PAGESIZE)), "resident");
    std::error_code gone;
    std::int64_t descriptors = 0;
    for (std::filesystem::directory_iterator at("/proc/self/fd", gone), end; !gone && at != end;
         at.increment(gone))
        ++descriptors;
    add(one, "descriptors", descriptors);
    add(one, "log_lines_lost", server.parts.log.lost());
    status.objects.push_back(std::move(one));
}

struct Part {
    std::string_view name;
    void (*add)(Context& context, ifl::StatusReply& status);
    bool for_all;  // shown to all users, not only to managers and operators
};
constexpr std::array kParts = {Part{"counters", add_counters, true},  Part{"cycles", add_cycles, false},
                               Part{"requests", add_requests, false}, Part{"users", add_users, false},
                               Part{"peers", add_peers, false},       Part{"health", add_health, false}};

}  // namespace

ifl::Reply status_diagnosis(Context& context, std::string_view extend) {
    const auto& body = std::get<ifl::Status>(context.request.body);
    const auto part = std::ranges::find(kParts, body.object, &Part::name);
    if (part == kParts.end() || !extend.empty() || !body.wanted.empty())
        return ifl::Reply::error(
            PBSE_IVALREQ,
            fmt::format(
                "diagnosis of '{}': expected counters, cycles, requests, users, peers or health, without "
                "attributes and options",
                body.object));
    if (!part->for_all)
        if (auto allowed = operators_only(context); !allowed) return refuse(allowed.error());
    ifl::StatusReply status;
    part->add(context, status);
    ifl::Reply reply;
    reply.body = std::move(status);
    return reply;
}

}  // namespace pbs::host

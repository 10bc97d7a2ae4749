// A scheduler of one's own: starts the jobs in the order in which they came, each on a single vnode: the
// first with enough CPUs where the server lets it start. Run it as a manager of the server whose policy has
// algorithm=external:
//
//     c++ -std=c++20 fifo_scheduler.cc $(pkg-config --cflags --libs pbspolicy) -o fifo_scheduler
//     ./fifo_scheduler [SECONDS]       with SECONDS, ends when nothing has changed for so long
//
// The program keeps no data of its own: if it is killed at any instant and started again, it reads the
// server's state and goes on.
#include <pbs_error.h>
#include <pbs_ifl.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <thread>
#include <utility>

using Json = nlohmann::json;

struct Cluster {
    std::map<long long, Json> vnodes, jobs;  // by handle
    long long version = 0;                   // of the last change that was taken

    // Takes a line of a record, or of pbs_statchanges().
    void take(const Json& line) {
        if (line.contains("version")) version = line["version"];
        if (line.contains("vnode")) vnodes[line["vnode"]["handle"]] = line["vnode"];
        if (line.contains("job")) jobs[line["job"]["handle"]] = line["job"];
        if (const auto gone = line.find("gone"); gone != line.end()) {
            if (gone->contains("vnode")) vnodes.erase((*gone)["vnode"].get<long long>());
            if (gone->contains("job")) jobs.erase((*gone)["job"].get<long long>());
        }
    }
};

// Reads the lines of a reply, and frees it. A record's lines from "cycle" on are decisions, not objects.
static void read_reply(Cluster& cluster, batch_status* reply) {
    std::string text;
    for (const batch_status* part = reply; part; part = part->next)
        for (const attrl* attribute = part->attribs; attribute; attribute = attribute->next)
            if (attribute->name == std::string("text")) text += attribute->value;
    pbs_statfree(reply);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line) && !line.starts_with("{\"cycle\"");)
        cluster.take(Json::parse(line));
}

static long long cpus(const Json& amounts) {
    for (const Json& amount : amounts)  // ["ncpus",2]
        if (amount[0] == "ncpus") return amount[1];
    return 0;
}

static std::map<long long, long long> free_cpus(const Cluster& cluster) {
    std::map<long long, long long> free;
    for (const auto& [handle, vnode] : cluster.vnodes)
        if (vnode.value("free", true)) free[handle] = cpus(vnode.value("resources_available", Json::array()));
    for (const auto& [handle, job] : cluster.jobs)
        for (const Json& place : job.value("places", Json::array()))
            if (const auto at = free.find(place["vnode"].get<long long>()); at != free.end())
                at->second -= cpus(place.value("amounts", Json::array()));
    return free;
}

// Asks the server to start a job at a vnode with so many CPUs free, one vnode after another until the server
// agrees. A vnode's name as the place stands for all that the job requests: the server checks the amounts,
// the values, and its limits, quotas and time windows. Returns the free CPUs of the job's vnode; null: no
// vnode.
static long long* start(int connection, Cluster& cluster, std::map<long long, long long>& free,
                        const std::string& id, long long asked) {
    for (auto& [handle, amount] : free) {
        if (amount < asked) continue;
        const std::string place = cluster.vnodes[handle]["name"];
        if (pbs_asyrunjob_ack(connection, id.c_str(), place.c_str(), "check=True") == PBSE_NONE)
            return &amount;
        if (pbs_errno != PBSE_RESCUNAV) return nullptr;
    }
    return nullptr;
}

// Starts the queued jobs in their order, up to the first for which no vnode has enough CPUs.
static void start_jobs(int connection, Cluster& cluster) {
    auto free = free_cpus(cluster);
    std::map<std::pair<long long, long long>, Json*> queue;  // in the order of submission; without arrays
    for (auto& [handle, job] : cluster.jobs)
        if (job["state"] == "Q" && job["id"].get<std::string>().find('[') == std::string::npos)
            queue[{job.value("sequence", 0LL), handle}] = &job;
    for (const auto& [order, job] : queue) {
        const long long asked = cpus(job->value("requested", Json::array()));
        if (std::ranges::none_of(free, [&](const auto& vnode) { return vnode.second >= asked; })) return;
        const std::string id = (*job)["id"];
        if (long long* left = start(connection, cluster, free, id, asked)) {
            (*job)["state"] = "?";  // until its change comes; the server starts no job twice
            *left -= asked;
        } else {
            const char* text = pbs_geterrmsg(connection);
            std::fprintf(stderr, "%s: error %d: %s\n", id.c_str(), pbs_errno, text ? text : "");
        }
    }
}

// Takes all changes up to now. An answer has a limited number of changes, so this function asks until the
// version stays the same.
static bool catch_up(int connection, Cluster& cluster) {
    for (long long before = -1; before != cluster.version;) {
        before = cluster.version;
        batch_status* reply = pbs_statchanges(connection, nullptr, before, 0, nullptr);
        if (reply == nullptr) return false;
        read_reply(cluster, reply);
    }
    return true;
}

// Registers this program. If its predecessor has just been killed, a server of OpenPBS may not have noticed
// that yet.
static bool register_program(int connection) {
    for (int tries = 20;; --tries) {
        if (pbs_schedregister(connection, nullptr, nullptr) == PBSE_NONE) return true;
        if (pbs_errno != PBSE_SCHEDCONNECTED || tries == 0) return false;
        std::printf("another program is still registered\n");
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
}

int main(int argc, char** argv) {
    const int patience = argc > 1 ? std::atoi(argv[1]) : 0;
    const int connection = pbs_connect(nullptr);
    if (connection < 0 || !register_program(connection)) {
        const char* text = pbs_geterrmsg(connection);
        std::fprintf(stderr, "fifo_scheduler: error %d: %s\n", pbs_errno, text ? text : "");
        return EXIT_FAILURE;
    }
    Cluster cluster;
    batch_status* reply = pbs_statrecord(connection, nullptr, nullptr);
    while (reply != nullptr) {
        const long long before = cluster.version;
        read_reply(cluster, reply);
        std::printf("version %lld\n", cluster.version);
        std::fflush(stdout);
        if (cluster.version == before && patience > 0) return EXIT_SUCCESS;
        if (catch_up(connection, cluster)) start_jobs(connection, cluster);
        reply = pbs_statchanges(connection, nullptr, cluster.version, patience > 0 ? patience : 60, nullptr);
        if (reply == nullptr && pbs_errno == PBSE_HISTORY) {  // this program was too slow: begin anew
            cluster = {};
            reply = pbs_statrecord(connection, nullptr, nullptr);
        }
    }
    std::fprintf(stderr, "fifo_scheduler: error %d\n", pbs_errno);
    return EXIT_FAILURE;
}

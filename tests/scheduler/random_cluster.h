// Clusters with random vnodes, policies and jobs. Equal seeds make equal clusters.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "tests/scheduler/world.h"

namespace pbs::sched::test {

struct RandomCluster {
    std::mt19937 random;
    World world;
    std::vector<VnodeOptions> vnodes;
    std::vector<QueueOptions> batch;
    std::vector<int> jobs;
    Instant now = at(6);

    int pick(int from, int to) { return std::uniform_int_distribution(from, to)(random); }
    bool chance(int percent) { return pick(1, 100) <= percent; }

    explicit RandomCluster(unsigned seed) : random(seed) {
        world.paste_on_failure();
        const bool origin = seed % 3 != 0;
        if (origin)
            make_origin();
        else
            make_standard();
        const int count = pick(1, 8);
        for (int i = 0; i < count; ++i) {
            vnodes.push_back({.name = "n" + std::to_string(i),
                              .ncpus = pick(1, 32),
                              .mem = pick(1, 32) * kGb,
                              .host = "h" + std::to_string(i / pick(1, 2)),
                              .free = chance(90),
                              .priority = pick(0, 2)});
            world.vnode(vnodes.back());
        }
        if (chance(50)) world.configuration.dedicated = world.window("FREQ=WEEKLY;BYDAY=WE", 16, 19);
        world.configure();
    }
    void make_origin() {
        Settings& s = world.origin({});
        const int count = pick(1, 3);
        for (int i = 0; i < count; ++i) {
            batch.push_back({.name = "b" + std::to_string(i),
                             .max_running = chance(50) ? pick(1, 6) : -1,
                             .max_user_run = chance(20) ? pick(1, 3) : -1,
                             .nodes = chance(70) ? pick(2, 40) : -1,
                             .max_walltime = chance(50) ? pick(1, 30) * kHour : -1,
                             .acl_users = chance(20) ? std::vector<std::string>{"u1", "u2"}
                                                     : std::vector<std::string>{}});
            world.queue(batch.back());
            s.batch_queues.push_back({batch.back().name, chance(20) ? "h0" : ""});
        }
        world.queue({.name = "special"});
        world.queue({.name = "ext"});
        s.special_queue = {{"special"}};
        s.external_queues = {{"ext"}};
        batch.push_back({.name = "ext"});
        world.prime_time(8, 17);
        s.enforce_prime_time = {chance(70)};
        s.prime_time_wallt_limit = Seconds(2 * kHour);
        s.nonprime_drain_sys = {chance(50)};
        s.np_drain_backtime = Seconds(kHour);
        s.np_drain_idletime = Seconds(kMinute);
        s.max_queued_time = Seconds(chance(50) ? 20 * kHour : 0);
        s.avoid_fragmentation = {chance(50)};
        s.sort_by_past_usage = {chance(70)};
        s.max_user_run_jobs = chance(20) ? 4 : 0;
        s.max_jobs = chance(20) ? 3 : 0;
    }
    void make_standard() {
        Settings& s = world.policy();
        const int count = pick(1, 3);
        for (int i = 0; i < count; ++i) {
            batch.push_back({.name = "b" + std::to_string(i),
                             .priority = pick(0, 2),
                             .max_running = chance(50) ? pick(1, 6) : -1,
                             .max_group_run = chance(20) ? pick(1, 3) : -1,
                             .available_ncpus = chance(30) ? pick(4, 40) : -1});
            world.queue(batch.back());
        }
        s.strict_ordering = chance(50);
        s.round_robin = chance(30);
        s.backfill_depth = pick(0, 3);
        s.max_starve = Seconds(pick(1, 30) * kHour);
    }
    // Sets limits on users and groups, in queues and in the server, and the allocations of groups.
    void limit_users() {
        const Amount available[] = {{ncpus, pick(8, 80), {}}};
        ServerRecord server;
        if (chance(40)) server.max_user_run = pick(1, 5);
        if (chance(30)) server.max_group_run = pick(2, 8);
        if (chance(20)) server.max_running = pick(3, 12);
        if (chance(20)) server.resources_available = available;
        world.server(server);
        for (QueueOptions& queue : batch) {
            if (chance(50)) queue.max_user_run = pick(1, 3);
            if (chance(30)) queue.max_group_run = pick(1, 4);
            if (chance(20)) queue.acl_users = {"u1", "u2"};
            world.queue(queue);
        }
        Settings& s = world.policy();
        if (s.algorithm == Algorithm::origin) {
            s.max_user_run_jobs = chance(40) ? pick(2, 5) : 0;
            s.enforce_allocation = {chance(40)};
            s.sched_acct_dir = "acct";
            world.scheduler.set_allocated(
                "acct", {{"g1", chance(50) ? pick(1, 200) : -1.0}, {chance(90) ? "g2" : "g3", pick(0, 200)}});
            world.scheduler.set_used("acct", {});
        }
        world.configure();
    }
    void add_jobs(int count) {
        const bool origin = world.policy().algorithm == Algorithm::origin;
        for (int i = 0; i < count; ++i) {
            JobOptions o;
            o.queue = !origin
                          ? batch[static_cast<std::size_t>(pick(0, static_cast<int>(batch.size()) - 1))].name
                      : chance(10) ? "special"
                      : chance(10) ? "ext"
                                   : "submit";
            o.owner = "u" + std::to_string(pick(1, 5));
            o.group = "g" + std::to_string(pick(1, 2));
            o.ncpus = pick(1, 20);
            if (chance(60)) o.mem = pick(1, 16) * 512 * kMb;
            if (!origin && chance(10)) o.ncpus = pick(20, 60);  // more CPUs than any vnode has
            if (chance(15)) o.select = std::to_string(pick(1, 6));
            if (!o.select.empty()) o.select += ":ncpus=" + std::to_string(pick(1, 4));
            if (!o.select.empty()) {
                o.ncpus = -1;
                o.mem = -1;
                if (chance(50)) o.place = chance(50) ? "scatter" : chance(50) ? "pack" : "free:excl";
            }
            o.walltime = pick(1, 30);
            o.walltime *= chance(50) ? kMinute * 10 : kHour;
            o.interactive = chance(10);
            o.queued = now - Seconds(pick(0, 30 * 3600));
            jobs.push_back(world.job(o, now));
        }
    }
    std::int64_t ncpus_of(const JobOptions& o) const {
        if (o.select.empty()) return o.ncpus;
        const auto colon = o.select.find(':');
        return std::stoll(o.select.substr(0, colon)) * std::stoll(o.select.substr(o.select.find('=') + 1));
    }
    void check_vnodes() const {
        std::map<std::uint64_t, std::map<std::uint32_t, std::int64_t>> used;
        std::map<std::uint64_t, std::pair<int, int>>
            holders;  // for each vnode, the number of its jobs and of exclusive ones
        for (const int job : jobs) {
            if (!world.running(job)) continue;
            std::set<std::uint64_t> mine;
            std::int64_t cpus = 0;
            for (const auto& [vnode, amounts] : world.places(job)) {
                mine.insert(vnode);
                for (const HeldAmount& a : amounts) {
                    used[vnode][a.resource] += a.number;
                    if (a.resource == ncpus) cpus += a.number;
                }
            }
            EXPECT_EQ(cpus, ncpus_of(world.options(job))) << "job " << job << " got what it asked for";
            for (const auto vnode : mine) {
                ++holders[vnode].first;
                if (world.options(job).place == "free:excl") ++holders[vnode].second;
            }
        }
        for (const auto& [vnode, amounts] : used) {
            const VnodeOptions& v = vnodes[vnode - 1];
            EXPECT_LE(amounts.contains(ncpus) ? amounts.at(ncpus) : 0, v.ncpus) << v.name;
            EXPECT_LE(amounts.contains(mem) ? amounts.at(mem) : 0, v.mem) << v.name;
            EXPECT_TRUE(v.free) << v.name;
        }
        for (const auto& [vnode, count] : holders)
            EXPECT_TRUE(count.second == 0 || count.first == 1) << "exclusive use of vnode " << vnode;
    }
    void check_queues() {
        const Settings& s = world.policy();
        for (const QueueOptions& queue : batch) {
            std::int64_t running = 0, nodes = 0, cpus = 0;
            std::map<std::string, int> users, groups;
            for (const int job : jobs) {
                if (!world.running(job) || world.queue_of(job) != queue.name) continue;
                const JobOptions& o = world.options(job);
                ++running;
                ++users[o.owner];
                ++groups[o.group];
                cpus += ncpus_of(o);
                nodes += std::max<std::int64_t>((ncpus_of(o) + 1) / 2,
                                                o.mem < 0 ? 0 : (o.mem + 512 * kMb - 1) / (512 * kMb));
                EXPECT_TRUE(queue.max_walltime < 0 || o.walltime <= queue.max_walltime) << queue.name;
                EXPECT_TRUE(queue.acl_users.empty() || o.owner == "u1" || o.owner == "u2");
            }
            EXPECT_TRUE(queue.max_running < 0 || running <= queue.max_running) << queue.name;
            EXPECT_TRUE(queue.nodes < 0 || nodes <= queue.nodes) << queue.name;
            EXPECT_TRUE(queue.available_ncpus < 0 || cpus <= queue.available_ncpus) << queue.name;
            for (const auto& [user, count] : users)
                EXPECT_TRUE(queue.max_user_run < 0 || count <= queue.max_user_run) << queue.name;
            for (const auto& [group, count] : groups)
                EXPECT_TRUE(queue.max_group_run < 0 || count <= queue.max_group_run) << queue.name;
        }
        std::map<std::string, int> users;
        for (const int job : jobs)
            if (world.running(job)) ++users[world.options(job).owner];
        for (const auto& [user, count] : users)
            EXPECT_TRUE(s.max_user_run_jobs == 0 || count <= s.max_user_run_jobs);
    }
    // Ends some of the running jobs, and moves the clock forward.
    void pass_time() {
        std::vector<int> left;
        for (const int job : jobs) {
            if (world.running(job) && chance(40))
                world.finish(job, now);
            else
                left.push_back(job);
        }
        jobs = left;
        now += Seconds(pick(60, 4 * 3600));
    }
    void drop_rejected(const Outcome& outcome) {
        std::erase_if(jobs, [&](int job) { return outcome.rejected.contains(job); });
    }
};

}  // namespace pbs::sched::test

#include "tests/openpbs/random_site.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <initializer_list>
#include <random>

namespace pbs::e2e {
namespace {

class Maker {
  public:
    explicit Maker(std::uint64_t seed) : random_(seed) {}

    RandomSite make() {
        // Set the prefixes. By default there is no prefix, with which every queue would be for dedicated
        // time.
        site_.sched_config = "dedicated_prefix: ded\nprimetime_prefix: p_\nnonprimetime_prefix: np_\n";
        shared_resources();
        vnodes();
        queues();
        order();
        shares();
        preemption();
        limits();
        placement();
        times();
        for (int cycle = 0; cycle < 3; ++cycle) {
            auto& jobs = site_.cycles.emplace_back();
            const int count = number(cycle == 0 ? 8 : 4, cycle == 0 ? 16 : 9);
            for (int i = 0; i < count; ++i) jobs.push_back(job());
        }
        // The option "resources" of sched_config names the resources that the scheduler takes into account.
        std::string counted = "ncpus, mem, arch, host, vnode";
        for (const char* name : {"lic", "gpus", "color", "rack", "fast"})
            if (!chance(8)) counted += fmt::format(", {}", name);
        line("resources: \"{}\"", counted);
        return std::move(site_);
    }

  private:
    // Don't use the distributions of the standard library, because another library's give other numbers.
    int number(int low, int high) {
        return low + static_cast<int>(random_() % static_cast<std::uint64_t>(high - low + 1));
    }
    bool chance(int percent) { return number(1, 100) <= percent; }
    template <typename T>
    T one_of(std::initializer_list<T> all) {
        return *(all.begin() + number(0, static_cast<int>(all.size()) - 1));
    }
    const std::string& owner() {
        return kOwners[static_cast<std::size_t>(number(0, static_cast<int>(kOwners.size()) - 1))];
    }
    std::string one(std::initializer_list<const char*> all) { return one_of<const char*>(all); }

    template <typename... T>
    void line(fmt::format_string<T...> form, T&&... values) {
        site_.sched_config += fmt::format(form, std::forward<T>(values)...) + "\n";
    }
    template <typename... T>
    void directive(fmt::format_string<T...> form, T&&... values) {
        site_.directives.push_back(fmt::format(form, std::forward<T>(values)...));
    }

    void shared_resources() {
        site_.resources = {
            "create resource lic type=long, flag=q",     "create resource gpus type=long, flag=nh",
            "create resource color type=string, flag=h", "create resource rack type=string_array, flag=h",
            "create resource fast type=boolean, flag=h", "create resource site_weight type=long"};
        if (chance(70)) directive("set server resources_available.lic = {}", number(1, 6));
    }

    void vnodes() {
        const int count = number(3, 8);
        site_.vnodes = "$configversion 2\nbox: resources_available.ncpus=0\nbox: resources_available.mem=0\n";
        for (int i = 0; i < count; ++i) {
            const auto set = [&](const std::string& name, const auto& value) {
                site_.vnodes += fmt::format("v{}: {}={}\n", i, name, value);
            };
            set("resources_available.ncpus", number(1, 8));
            set("resources_available.mem", fmt::format("{}gb", number(2, 16)));
            if (chance(30)) set("resources_available.gpus", number(1, 4));
            if (chance(60)) set("resources_available.color", one({"red", "blue"}));
            if (chance(70))
                directive("set node v{} resources_available.rack = {}", i, one({"r1", "r2", "\"r1,r2\""}));
            if (chance(40)) set("resources_available.fast", one({"True", "False"}));
            if (chance(50)) directive("set node v{} Priority = {}", i, number(-5, 20));
        }
    }

    void queues() {
        directive("create queue batch queue_type=execution, enabled=True, started=True");
        directive("create queue low queue_type=execution, enabled=True, started=True");
        directive("create queue express queue_type=execution, enabled=True, started=True, Priority=200");
        directive("set server default_queue = batch");
        if (chance(50)) directive("set queue batch Priority = {}", number(10, 100));
        if (chance(30)) directive("set queue low Priority = {}", number(1, 100));
        if (chance(10)) directive("set queue low started = False");
        line("by_queue: {} ALL", one({"True", "False"}));
        line("round_robin: {} ALL", chance(15) ? "True" : "False");
    }

    void order() {
        // With strict ordering, OpenPBS keeps room for an array that is a top job, even if no further subjob
        // of the array may run.
        strict_ = chance(40);
        line("strict_ordering: {} ALL", strict_ ? "True" : "False");
        if (chance(60)) directive("set server backfill_depth = {}", number(0, 4));
        if (chance(15)) directive("set queue {} backfill_depth = {}", one({"batch", "low"}), number(0, 3));
        switch (number(0, 3)) {
            case 0: {
                const std::string formula =
                    one({"ncpus*10+job_priority", "queue_priority+ncpus", "10000-walltime+mem/1000000",
                         "job_priority*2-ncpus", "site_weight+ncpus/10", "fairshare_perc*10+ncpus/100",
                         "fairshare_factor*100+job_priority/1000", "ncpus-fairshare_tree_usage*10"});
                directive("set server job_sort_formula = \"{}\"", formula);
                if (chance(25)) directive("set sched job_sort_formula_threshold = {}", number(-10, 20));
                break;
            }
            case 1:
                line("job_sort_key: \"{} {}\" ALL",
                     one({"ncpus", "walltime", "mem", "job_priority", "preempt_priority", "fairshare_perc"}),
                     one({"HIGH", "LOW"}));
                if (chance(40))
                    line("job_sort_key: \"{} {}\" ALL", one({"walltime", "ncpus"}), one({"HIGH", "LOW"}));
                break;
            default:
                break;
        }
    }

    void shares() {
        const bool in_use = chance(35);
        line("fair_share: {} ALL", in_use ? "True" : "False");
        if (!in_use) return;
        line("fairshare_usage_res: {}", one({"ncpus*walltime", "walltime", "ncpus"}));
        line("fairshare_entity: {}", chance(70) ? "euser" : "queue");
        if (chance(40)) line("unknown_shares: {}", number(1, 20));
        site_.resource_group =
            fmt::format("grp1 10 root {}\ngrp2 20 root {}\n", number(10, 60), number(10, 60));
        // All entities but one have past usage. If several had none, their order would depend on seconds.
        int id = 30;
        const int unknown = number(0, 7);
        for (int i = 0; const std::string& entity : kOwners) {
            if (i++ == unknown) continue;
            entity_of_tree(entity, id++);
            site_.usage.push_back(fmt::format("-s {} {}", entity, number(1, 90) * 1'000'000));
        }
        for (const char* entity : {"batch", "low"}) {
            if (chance(20)) continue;
            entity_of_tree(entity, id++);
            if (chance(70)) site_.usage.push_back(fmt::format("-s {} {}", entity, number(1, 90) * 1'000'000));
        }
    }
    void entity_of_tree(const std::string& entity, int id) {
        site_.resource_group +=
            fmt::format("{} {} {} {}\n", entity, id, one({"root", "grp1", "grp2"}), number(5, 50));
    }

    void preemption() {
        const bool in_use = chance(60);
        line("preemptive_sched: {} ALL", in_use ? "True" : "False");
        site_.preempts = in_use;
        if (!in_use) return;
        directive("set sched preempt_prio = \"{}\"",
                  one({"express_queue, normal_jobs", "express_queue, normal_jobs, fairshare",
                       "express_queue, normal_jobs, queue_softlimits, server_softlimits",
                       "express_queue, normal_jobs, server_softlimits+queue_softlimits, queue_softlimits",
                       "express_queue+queue_softlimits, express_queue, normal_jobs"}));
        directive("set sched preempt_order = \"{}\"", one({"SCR", "S", "R", "D", "SR", "R 50 S", "RD"}));
        if (chance(50)) directive("set sched preempt_sort = min_time_since_start");
        if (chance(20)) directive("set sched preempt_queue_prio = {}", one({"50", "150", "201"}));
        if (chance(40))
            directive("set server restrict_res_to_release_on_suspend = {}", one({"ncpus", "\"ncpus,mem\""}));
    }

    // A server has either the limits of this function or limits of entities (max_run and others).
    void older_limits() {
        for (const char* on : {"server", "queue batch", "queue low", "queue express"}) {
            const auto limited = [&](int percent, const char* name, int low, int high) {
                if (chance(percent)) directive("set {} {} = {}", on, name, number(low, high));
            };
            limited(15, "max_running", 2, 6);
            limited(15, "max_user_run", 1, 4);
            limited(15, "max_group_run", 1, 5);
            limited(10, "max_user_res.ncpus", 2, 10);
            limited(10, "max_group_res.ncpus", 4, 12);
            limited(10, "max_user_run_soft", 1, 2);
            limited(10, "max_group_run_soft", 1, 3);
            limited(10, "max_user_res_soft.ncpus", 2, 6);
        }
    }

    void amounts_of_queues() {
        if (chance(15)) directive("set queue batch resources_available.ncpus = {}", number(4, 12));
        if (chance(10)) directive("set queue low resources_available.mem = {}gb", number(4, 20));
        if (chance(10)) directive("set queue low resources_max.ncpus = {}", number(2, 8));
        if (chance(10)) directive("set server resources_available.ncpus = {}", number(6, 30));
    }

    void limits() {
        amounts_of_queues();
        if (chance(25)) return older_limits();
        const auto limited = [&](const std::string& on, const std::string& name, int high) {
            std::string limit;
            switch (number(0, 4)) {
                case 0:
                    limit = fmt::format("[o:PBS_ALL={}]", number(2, high + 4));
                    break;
                case 1:
                    limit = fmt::format("[u:PBS_GENERIC={}]", number(1, high));
                    break;
                case 2:
                    limit = fmt::format("[u:{}={}]", owner(), number(0, high));
                    break;
                case 3:
                    limit = fmt::format("[g:{}={}]", chance(50) ? "PBS_GENERIC" : owner(), number(1, high));
                    break;
                default:
                    limit = fmt::format("[p:{}={}]", one({"PBS_GENERIC", "apollo"}), number(1, high));
                    break;
            }
            // If the server has a limit on a project's resources, OpenPBS preempts jobs of the same user
            // instead of jobs of the same project. So leave such a limit out.
            if (limit.starts_with("[p:") && on == "server" && name.find("_res") != std::string::npos) return;
            directive("set {} {} = \"{}\"", on, name, limit);
        };
        const char* on[] = {"server", "queue batch", "queue low", "queue express"};
        for (const char* where : on) {
            if (chance(20)) limited(where, "max_run", 4);
            if (chance(15)) limited(where, "max_run_res.ncpus", 10);
            if (chance(15)) limited(where, "max_run_soft", 2);
            if (chance(10)) limited(where, "max_run_res_soft.ncpus", 6);
        }
    }

    void placement() {
        // The other values of smp_cluster_dist are deprecated, and policies don't have them.
        line("smp_cluster_dist: pack");
        const int order = number(0, 4);
        switch (order) {
            case 0:
                line("node_sort_key: \"sort_priority {}\" ALL", one({"HIGH", "LOW"}));
                break;
            case 1:
                line("node_sort_key: \"{} {}\" ALL", one({"ncpus", "mem"}), one({"HIGH", "LOW"}));
                if (chance(40)) line("node_sort_key: \"sort_priority {}\" ALL", one({"HIGH", "LOW"}));
                break;
            case 2:
                line("node_sort_key: \"{} {} {}\" ALL", one({"ncpus", "mem"}), one({"HIGH", "LOW"}),
                     one({"unused", "assigned", "total"}));
                break;
            default:
                line("node_sort_key: \"sort_priority HIGH\" ALL");
                break;
        }
        if (!chance(25)) return;
        const std::string key = one({"color", "rack", "host"});
        // After a start, OpenPBS doesn't sort the vnodes of a placement set by their use anew.
        if (order == 2) return;
        directive("set server node_group_key = {}", key);
        directive("set server node_group_enable = True");
    }

    // Returns a number of minutes that lies between two walltimes. The margin to both is larger than the time
    // that the three cycles take.
    int boundary() { return one_of({15, 30, 90}); }

    void times() {
        directive("create queue p_day queue_type=execution, enabled=True, started=True");
        directive("create queue np_night queue_type=execution, enabled=True, started=True");
        directive("create queue ded_queue queue_type=execution, enabled=True, started=True");
        if (chance(25)) {
            const int from = boundary();
            site_.dedicated = {from, from + number(60, 120)};
        }
        if (!chance(35)) return;
        const int change = boundary();
        site_.prime = chance(50) ? RandomSite::Span{change, change + 120} : RandomSite::Span{-60, change};
        line("backfill_prime: {} ALL", one({"True", "False"}));
        line("prime_exempt_anytime_queues: {}", one({"True", "False"}));
        if (chance(50)) line("prime_spill: {} ALL", one({"00:20:00", "01:00:00"}));
    }

    std::string select() {
        std::string chunk = fmt::format("ncpus={}", number(1, 4));
        // If jobs preempt, let each request memory: OpenPBS preempts only jobs that request the first
        // resource that is lacking.
        if (site_.preempts || chance(40)) chunk += fmt::format(":mem={}gb", number(1, 4));
        if (chance(10)) chunk += fmt::format(":gpus={}", number(1, 2));
        if (chance(12)) chunk += fmt::format(":color={}", one({"red", "blue"}));
        if (chance(6)) chunk += fmt::format(":rack={}", one({"r1", "r2"}));
        if (chance(6)) chunk += fmt::format(":fast={}", one({"True", "False"}));
        if (chance(3)) chunk += fmt::format(":host=v{}", number(0, 3));
        return fmt::format("{}:{}", one_of({1, 1, 1, 2, 3}), chunk);
    }

    RandomSite::Job job() {
        std::string wanted = select();
        if (chance(10)) wanted += "+" + select();
        std::string options =
            fmt::format("-l select={} -l walltime={}", wanted, one_of({600, 1200, 2400, 3600, 7200}));
        if (chance(40))
            options += fmt::format(" -l place={}", one({"pack", "scatter", "free", "vscatter", "excl",
                                                        "pack:excl", "scatter:excl", "pack:group=color",
                                                        "free:group=rack", "scatter:group=host"}));
        if (chance(20)) options += fmt::format(" -l lic={}", number(1, 3));
        if (chance(20)) options += fmt::format(" -l site_weight={}", number(1, 100));
        if (chance(30)) options += fmt::format(" -p {}", number(-100, 100));
        if (chance(50))
            options += fmt::format(" -q {}", one({"low", "express", "batch", "low", "express", "batch",
                                                  "p_day", "np_night", "ded_queue"}));
        if (chance(20)) options += fmt::format(" -P {}", one({"apollo", "gemini"}));
        if (chance(8)) options += fmt::format(" -J 1-{}{}", number(2, 4), strict_ ? "" : one({"", "", "%1"}));
        if (chance(8)) options += " -r n";
        if (chance(4)) options += " -h";
        return {owner(), options};
    }

    bool strict_ = false;
    std::mt19937_64 random_;
    RandomSite site_;
};

}  // namespace

std::string RandomSite::text() const {
    std::string out =
        fmt::format("{}--\n{}--\n{}--\npbsfs {}\n--\n{}\n{}\n", vnodes, sched_config, resource_group,
                    fmt::join(usage, "\npbsfs "), fmt::join(resources, "\n"), fmt::join(directives, "\n"));
    int sequence = 0;
    if (dedicated) out += fmt::format("-- dedicated {} to {}\n", dedicated->from, dedicated->until);
    if (prime) out += fmt::format("-- prime {} to {}\n", prime->from, prime->until);
    for (const auto& jobs : cycles) {
        out += "-- a cycle\n";
        for (const Job& job : jobs) out += fmt::format("{}: {} qsub {}\n", sequence++, job.user, job.options);
    }
    return out;
}

RandomSite random_site(std::uint64_t seed) {
    return Maker(seed).make();
}

}  // namespace pbs::e2e

#include "tests/openpbs/two_servers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <utility>

namespace pbs::e2e {
namespace {

// Returns the exec_vnode with the amounts of each vnode sorted by name. For the first vnode of a divided
// chunk, OpenPBS has them in another order.
std::string in_order(const std::string& exec_vnode) {
    std::string out;
    std::vector<std::string> amounts;
    const auto end = [&] {
        std::ranges::sort(amounts);
        for (const std::string& amount : amounts) out += ":" + amount;
        amounts.clear();
    };
    for (std::size_t at = 0; at < exec_vnode.size();) {
        const std::size_t next = std::min(exec_vnode.find_first_of(":+)", at), exec_vnode.size());
        const std::string part = exec_vnode.substr(at, next - at);
        if (at > 0 && exec_vnode[at - 1] == ':')
            amounts.push_back(part);
        else
            out += part;
        if (next < exec_vnode.size() && exec_vnode[next] != ':') {
            end();
            out += exec_vnode[next];
        }
        at = next + 1;
    }
    end();
    return out;
}

// Returns the number with which a job's id begins.
std::string sequence_of(const std::string& id) {
    return id.substr(0, id.find_first_not_of("0123456789"));
}

// Returns a shell expression for the instant that is `minutes` from now, in a format of date(1).
std::string at(int minutes, const std::string& format) {
    return fmt::format("$(date -d '{} minutes' +'{}')", minutes, format);
}

std::string in_qmgr(const std::string& directive) {
    return fmt::format("$stock/qmgr <<'END'\n{}\nEND", directive);
}

}  // namespace

std::string StartsSeen::text() const {
    std::string out = fmt::format("  starts: {}\n", fmt::join(started, " "));
    for (const auto& [job, state] : states) out += fmt::format("  {} {}\n", job, state);
    return out;
}

TwoServers::TwoServers(const RandomSite& random) : random_(random) {
    for (const std::string& owner : kOwners)
        box_.ok(fmt::format("id {0} >/dev/null 2>&1 || useradd -M -d / -s /bin/bash {0}", owner));
    start_theirs();
    start_ours();
}
TwoServers::~TwoServers() {
    (void)box_.sh("kill $(cat /var/tmp/ours/server_priv/server.lock)");
}

void TwoServers::submit(const std::vector<RandomSite::Job>& jobs) {
    for (const Host* host : {&kTheirs, &kOurs}) {
        std::string script;
        for (const RandomSite::Job& job : jobs)
            script += fmt::format(
                "su {} -s /bin/bash -c \"{}qsub -o /dev/null -e /dev/null {} -- /bin/sleep 10000\" "
                "2>/dev/null || echo refused\n",
                job.user, host->commands, job.options);
        // OpenPBS's server uses up a job number for a refused job, too.
        std::istringstream ids(box_.sh(script).out);
        int number = submitted_;
        for (std::string id; std::getline(ids, id); ++number)
            if (id != "refused") names_[host->name][sequence_of(id)] = std::to_string(number);
        EXPECT_EQ(number, submitted_ + static_cast<int>(jobs.size()));
    }
    submitted_ += static_cast<int>(jobs.size());
    const auto accepted = [&](const Host& host) {
        std::set<std::string> numbers;
        for (const auto& [id, name] : names_[host.name]) numbers.insert(name);
        return numbers;
    };
    EXPECT_EQ(accepted(kTheirs), accepted(kOurs)) << random_.text();
}

// Deletes some of the running jobs, at both servers. `choice` is the seed by which they are chosen.
void TwoServers::end_some(const StartsSeen& seen, std::uint64_t choice) const {
    std::vector<std::string> ended;
    for (const auto& [job, state] : seen.states)
        if (state.starts_with("R ") &&
            (choice = choice * 6364136223846793005U + 1442695040888963407U) >> 62 == 0)
            ended.push_back(job);
    if (ended.empty()) return;
    for (const Host* host : {&kTheirs, &kOurs}) {
        for (const std::string& job : ended)
            (void)box_.ok(fmt::format("{}qdel '{}'", host->commands, id_of(*host, job)));
        EXPECT_TRUE(wait_for(
            [&] {
                const auto left = states(*host);
                return std::ranges::none_of(ended, [&](const std::string& job) {
                    const auto found = left.find(job);
                    return found != left.end() && !found->second.starts_with("X");
                });
            },
            std::chrono::seconds(30)));
    }
}

StartsSeen TwoServers::cycle(const Host& host) const {
    const std::size_t before = log_of(host).size();
    (void)box_.ok(host.commands + "qmgr -c 'set server scheduling = True'");
    std::string news;
    // The subjobs of an array may start in several cycles, one after the other. So wait until the log stays
    // the same.
    EXPECT_TRUE(wait_for(
        [&] {
            const std::string last = std::exchange(news, log_of(host).substr(before));
            return news == last && news.find("Leaving Scheduling Cycle") != std::string::npos;
        },
        std::chrono::seconds(30)))
        << host.name
        << box_.sh(host.commands + "qmgr -c 'print server'; tail -n 30 " + host.sched_logs +
                   "/* /var/tmp/ours/server_logs/*")
               .out;
    (void)box_.ok(host.commands + "qmgr -c 'set server scheduling = False'");
    StartsSeen out;
    std::istringstream lines(news);
    for (std::string line; std::getline(lines, line);) {
        if (!line.ends_with(";Job run")) continue;
        const std::size_t job = line.find(";Job;") + 5;
        out.started.push_back(name_of(host, line.substr(job, line.find(';', job) - job)));
    }
    // Wait until the states stay the same, because requests to the execution host take a while.
    std::map<std::string, std::string> last;
    EXPECT_TRUE(wait_for(
        [&] {
            auto now = states(host);
            const bool settled = now == last && std::ranges::none_of(now, [](const auto& job) {
                                     return job.second.starts_with("E");
                                 });
            last = std::move(now);
            return settled;
        },
        std::chrono::seconds(30)));
    out.states = std::move(last);
    return out;
}

std::string TwoServers::comments(const Host& host) const {
    return box_.sh(host.commands + "qstat -tf | grep -E '^Job Id|comment|stime|^\\s+[^ =]+$'").out;
}
std::string TwoServers::report() const {
    return box_
        .sh("cat /var/tmp/ours/server_logs/*; cat /var/spool/pbs/sched_logs/*; cat "
            "/var/spool/pbs/server_logs/* | tail -n 100")
        .out;
}
void TwoServers::start_theirs() const {
    const std::string folder = "/var/spool/pbs/sched_priv";
    box_.ok(fmt::format("cat > {}/sched_config <<'END'\n{}END", folder, random_.sched_config));
    if (!random_.resource_group.empty())
        box_.ok(fmt::format("cat > {}/resource_group <<'END'\n{}END", folder, random_.resource_group));
    put_times(folder);
    for (const std::string& usage : random_.usage) box_.ok("$stock/../sbin/pbsfs " + usage);
    box_.start();
    box_.ok("$stock/qmgr -c 'set server scheduling=False, flatuid=True, acl_roots=root@*'");
    // The scheduler knows only the resources that existed at its start. So it gets SIGHUP below.
    for (const std::string& directive : random_.resources) box_.ok(in_qmgr(directive));
    make_vnodes();
    for (const std::string& directive : random_.directives) box_.ok(in_qmgr(directive));
    box_.ok("kill -HUP $(cat /var/spool/pbs/sched_priv/sched.lock)");
}

// Gives each vnode its own mom, because OpenPBS treats vnodes that share a mom or a host in a special way. If
// `one_mom` is set, the box's mom has all vnodes.
void TwoServers::make_vnodes() const {
    std::set<std::string> names;
    std::string settings;
    std::istringstream lines(random_.vnodes);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t colon = line.find(": ");
        if (colon == std::string::npos) continue;
        const std::string name = line.substr(0, colon);
        const std::size_t is = line.find('=');
        if (name != "box") names.insert(name);
        settings += fmt::format("set node {} {} = {}\n", name, line.substr(colon + 2, is - colon - 2),
                                line.substr(is + 1));
    }
    if (random_.one_mom) {
        box_.ok(
            fmt::format("cat > /var/tmp/vnodes <<'END'\n{}END\n$stock/../sbin/pbs_mom -s insert vnodes "
                        "/var/tmp/vnodes; kill -HUP $(cat /var/spool/pbs/mom_priv/mom.lock)",
                        random_.vnodes));
    } else {
        box_.add_moms({names.begin(), names.end()});
    }
    const std::string all_free =
        fmt::format("for name in {}; do $stock/pbsnodes -v $name | grep -q 'state = free' || exit 1; done",
                    fmt::join(names, " "));
    EXPECT_TRUE(wait_for([&] { return box_.sh(all_free).exit == 0; }, std::chrono::seconds(60)))
        << random_.text() << box_.sh("tail -n 20 /var/spool/pbs/*/mom_logs/*").out;
    if (!random_.one_mom) box_.ok(in_qmgr(settings));
}

// Writes the files of dedicated and prime time. Prime time that would last past midnight lasts all day
// instead.
void TwoServers::put_times(const std::string& folder) const {
    if (random_.dedicated)
        box_.ok(fmt::format("echo \"{} {}\" > {}/dedicated_time",
                            at(random_.dedicated->from, "%m/%d/%Y %H:%M"),
                            at(random_.dedicated->until, "%m/%d/%Y %H:%M"), folder));
    const auto days = [&](const std::string& times) {
        box_.ok(
            fmt::format("cat > {}/holidays <<END\nYEAR $(date +%Y)\n  weekday {}\n  saturday {}\n  "
                        "sunday {}\nEND",
                        folder, times, times, times));
    };
    if (!random_.prime) return days("all none");
    const std::string until = at(random_.prime->until, "%H%M");
    const bool in_a_day =
        box_.sh(fmt::format("[ {} = {} ]", at(random_.prime->from, "%F"), at(random_.prime->until, "%F")))
            .exit == 0;
    days(in_a_day ? at(random_.prime->from, "%H%M") + " " + until : "all none");
}

void TwoServers::start_ours() const {
    box_.ok(
        "mkdir -p -m 755 /var/tmp/ours/sched_priv; cd /var/spool/pbs/sched_priv; "
        "cp sched_config /var/tmp/ours/sched_priv; for file in resource_group usage holidays "
        "dedicated_time; do "
        "[ ! -e $file ] || cp $file /var/tmp/ours/sched_priv; done; "
        "for what in server 'node @default' sched; do $stock/qmgr -c \"print $what\"; done | sed "
        "'s/^create node \\(v[0-9]\\).*/create node \\1 Mom=box/' > "
        "/var/tmp/ours/sched_priv/qmgr_print; "
        "$ours/pbs_server --home /var/tmp/ours --name ours -p 15551 --bind 0.0.0.0 --daemon");
}

std::string TwoServers::log_of(const Host& host) const {
    return box_.sh(fmt::format("cat {}/* 2>/dev/null", host.sched_logs)).out;
}

// Returns the job's number in the order of submission; for a subjob with its index.
std::string TwoServers::name_of(const Host& host, const std::string& id) const {
    const std::string sequence = sequence_of(id);
    const auto known = names_.at(host.name).find(sequence);
    const std::string index = id.substr(sequence.size(), id.find('.') - sequence.size());
    return (known == names_.at(host.name).end() ? "?" + sequence : known->second) + index;
}
std::string TwoServers::id_of(const Host& host, const std::string& name) const {
    const std::string number = sequence_of(name);
    for (const auto& [sequence, known] : names_.at(host.name))
        if (known == number) return sequence + name.substr(number.size());
    return name;
}

bool TwoServers::started_at_once(const Host& host, const StartsSeen& seen) const {
    std::set<std::string> times;
    const nlohmann::json all = jobs(host);
    for (const auto& [id, job] : all.items())
        if (std::ranges::find(seen.started, name_of(host, id)) != seen.started.end() && job.contains("stime"))
            times.insert(job["stime"]);
    return times.size() <= 1;
}

// Returns qstat's objects of all jobs and subjobs, by id.
nlohmann::json TwoServers::jobs(const Host& host) const {
    auto document = nlohmann::json::parse(box_.ok(host.commands + "qstat -tf -F json"), nullptr, false);
    if (document.is_discarded() || !document.contains("Jobs")) return nlohmann::json::object();
    return document["Jobs"];
}

// Returns the state and the vnodes of each job and subjob. The keys are the names of name_of().
std::map<std::string, std::string> TwoServers::states(const Host& host) const {
    std::map<std::string, std::string> out;
    const nlohmann::json all = jobs(host);
    for (const auto& [id, job] : all.items())
        // Leave arrays out. If an array's only started subjob is queued again, the array may be shown as
        // begun or as queued.
        if (id.find("[]") == std::string::npos)
            out[name_of(host, id)] =
                fmt::format("{} {}", job.value("job_state", "?"), in_order(job.value("exec_vnode", "")));
    return out;
}

}  // namespace pbs::e2e

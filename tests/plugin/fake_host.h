// A host for tests: loads the built pbs_policy.so through its C interface and drives it, at times of the
// test's choosing.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server_plugin/plugin/pbs_plugin.h"

namespace pbs::plugin_test {

// Usual handles of the objects that tests give the host.
inline constexpr uint64_t kSubmit = 101;
inline constexpr uint64_t kBatch = 102;
inline constexpr uint64_t kVnode = 201;

// A reply of the plugin.
struct Answer {
    struct Object {
        int32_t type = 0;
        std::string name;
        std::map<std::string, std::string> attributes;
    };
    int32_t code = 0;  // 0: success
    std::string text;
    std::vector<std::string> warnings;
    std::vector<Object> objects;
    std::map<std::string, std::string> attributes;  // from reply_attr

    // Returns an attribute of the first object; "(none)": not there.
    std::string value(const std::string& name) const;
};

struct Decision {
    int32_t kind = 0;
    uint64_t job = 0;
    uint64_t queue = 0;
    std::string text;
    std::vector<uint64_t> vnodes;
    friend bool operator==(const Decision&, const Decision&) = default;
};

struct Change {
    std::string name;
    std::string value;
    int32_t op = PBS_OP_SET;
};

// Fields of a job that tests vary.
struct Job {
    uint64_t handle = 0;
    uint64_t queue = 0;
    std::string owner = "alice";
    std::string group = "staff";
    char state = 'Q';
    int64_t ncpus = 2;
    int64_t mem_mb = 512;
    int64_t walltime = 600;
    int64_t ctime = 0;   // 0: FakeHost::now
    uint64_t vnode = 0;  // 0: the job doesn't run
    bool has_comment = false;
    int64_t hpm = -1;
};

// 2026-11-23 10:00:00 UTC, a Monday.
inline constexpr int64_t kMonday10 = 1795428000;

class FakeHost {
  public:
    // Uses a new folder, or `home`, which stays afterwards. The zone is UTC.
    explicit FakeHost(std::optional<std::filesystem::path> home = std::nullopt);
    ~FakeHost();
    FakeHost(const FakeHost&) = delete;
    FakeHost& operator=(const FakeHost&) = delete;

    const std::filesystem::path& home() const { return home_; }
    void write(const std::string& file, std::string_view text) const;
    std::string read(const std::string& file) const;

    // Calls the entry point. A test may spoil `host` before. `error` has the text.
    int32_t init();
    int32_t start();
    // Tells of resources, the server and the default sched, between init() and start().
    void introduce();
    // Tells only of the scheduler, with own_sched and directives.
    void tell_of_sched();
    // Calls init(), introduce() and start(). Fails the test if one of them fails.
    void bring_up();
    void stop();

    Answer manager(int32_t command, int32_t type, const std::string& name,
                   const std::vector<Change>& changes = {});
    Answer manager(const pbs_manager_request& request);
    Answer set(int32_t type, const std::string& name, const std::string& attribute, const std::string& value,
               int32_t op = PBS_OP_SET);
    // Sets an attribute with a ticket, once. A resource follows a dot in the name of the change.
    Answer ask(uint64_t ticket, int32_t type, const std::string& name, const Change& change);
    // Repeats the request until it is answered.
    Answer await(uint64_t ticket, int32_t type, const std::string& name, const Change& change);
    Answer status(int32_t type, const std::string& name, const std::vector<std::string>& wanted = {});
    Answer status(const pbs_status_request& request);
    // Returns the attributes that the plugin has for list server, list queue or list sched.
    std::map<std::string, std::string> attributes_of(int32_t type, const std::string& name);
    // Returns peer_queue for the default scheduler; the last value of several.
    std::string peer_queue();

    // Makes a started and enabled execution queue. The maxima have the units of Job; -1: not set.
    void queue(uint64_t handle, const std::string& name, int64_t max_ncpus = -1, int64_t max_walltime = -1);
    // Makes a vnode; by default on a host of its own.
    void vnode(uint64_t handle, const std::string& name, int64_t ncpus, int64_t mem_mb = 65536,
               const std::string& host_name = {});
    void job(const Job& job);
    void job_removed(uint64_t handle);

    std::vector<Decision> cycle(int32_t trigger = PBS_SCH_SCHEDULE_CMD);
    // Begins a cycle. True: it runs in a thread, and `cycles_finished` counts its end.
    bool start_cycle(int32_t trigger = PBS_SCH_SCHEDULE_CMD);
    std::vector<Decision> finish_cycle();
    // Returns the decision about one job; nullopt: `code` has the reason.
    std::optional<Decision> place_job(uint64_t job, int32_t& code);
    uint32_t tick();
    int64_t next_deadline();

    bool logged(std::string_view part) const;

    uint32_t own_sched = 0;  // pbs_sched_record.own, of a host with pbs_sched
    std::string directives;  // pbs_sched_record.directives
    std::string sched_priv;  // the scheduler's folder; empty: below the home
    bool commits = true;     // commits after each Manager request, as a host with a single client does
    int64_t now = kMonday10;
    pbs_identity who{};  // by default a manager
    pbs_host host{};
    pbs_plugin plugin{};
    std::string error;  // error of init() or start()
    std::vector<std::string> log;
    std::atomic<int> cycles_finished = 0;
    std::atomic<int> works_finished = 0;

  private:
    void define_resources();

    std::filesystem::path home_;
    std::string home_text_;
    bool own_home_ = false;
    void* library_ = nullptr;
    bool running_ = false;
};

// Authenticated identities of a manager, an operator and a plain user.
pbs_identity manager_identity();
pbs_identity operator_identity();
pbs_identity user_identity();

}  // namespace pbs::plugin_test

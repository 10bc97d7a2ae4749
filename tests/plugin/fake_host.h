// A host for tests: loads the built pbs_policy.so through its C interface, and calls it at times that the
// test chooses.
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
#include "tests/monday.h"

namespace pbs::plugin_test {

// The handles that tests usually give to the host's objects.
inline constexpr uint64_t kSubmit = 101;
inline constexpr uint64_t kBatch = 102;
inline constexpr uint64_t kVnode = 201;

// A reply of the plugin.
struct Answer {
    struct Object {
        int32_t type = 0;
        std::string name;
        std::map<std::string, std::string> attributes;
        std::vector<std::string> resources{};  // "name.resource" of each attribute with a resource
    };
    int32_t code = 0;  // 0: success
    std::string text;
    std::vector<std::string> warnings;
    std::vector<Object> objects;
    std::map<std::string, std::string> attributes;  // added by reply_attr

    // Returns an attribute of the first object, or "(none)" if the object doesn't have it.
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

// The fields of a job that tests vary.
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

using test::kMonday10;

class FakeHost {
  public:
    // Uses a new folder, which is removed at the end, or `home`, which isn't removed. The time zone is UTC.
    explicit FakeHost(std::optional<std::filesystem::path> home = std::nullopt);
    ~FakeHost();
    FakeHost(const FakeHost&) = delete;
    FakeHost& operator=(const FakeHost&) = delete;

    const std::filesystem::path& home() const { return home_; }
    void write(const std::string& file, std::string_view text) const;
    std::string read(const std::string& file) const;

    // Calls the plugin's entry point. Before the call a test may put wrong values into `host`. After a
    // failure `error` has the reason.
    int32_t init();
    int32_t start();
    // Reports resources, the server and the default scheduler to the plugin. Call it between init() and
    // start().
    void introduce();
    // Reports only the default scheduler, with the members own_sched and directives.
    void tell_of_sched(uint32_t scheduling = 1);
    // Calls init(), introduce() and start(). Fails the test if one of them fails.
    void bring_up();
    void stop();

    Answer manager(int32_t command, int32_t type, const std::string& name,
                   const std::vector<Change>& changes = {});
    Answer manager(const pbs_manager_request& request);
    Answer set(int32_t type, const std::string& name, const std::string& attribute, const std::string& value,
               int32_t op = PBS_OP_SET);
    // Sets an attribute by one call with a ticket. The name in `change` may have a resource after a dot.
    Answer ask(uint64_t ticket, int32_t type, const std::string& name, const Change& change);
    // Repeats the call of ask() until the answer isn't PBSE_TRYAGAIN.
    Answer await(uint64_t ticket, int32_t type, const std::string& name, const Change& change);
    Answer status(int32_t type, const std::string& name, const std::vector<std::string>& wanted = {});
    Answer status(const pbs_status_request& request);
    // Returns the attributes that the plugin adds to `list server`, `list queue` or `list sched`.
    std::map<std::string, std::string> attributes_of(int32_t type, const std::string& name);
    // Returns the last peer_queue of the default scheduler; empty if there is none.
    std::string peer_queue();

    // Reports a started and enabled execution queue. max_walltime is in seconds; -1: no maximum.
    void queue(uint64_t handle, const std::string& name, int64_t max_ncpus = -1, int64_t max_walltime = -1);
    // Reports a vnode. If `host_name` is empty, the vnode is on a host of its own.
    void vnode(uint64_t handle, const std::string& name, int64_t ncpus, int64_t mem_mb = 65536,
               const std::string& host_name = {});
    void job(const Job& job);
    void job_removed(uint64_t handle);

    std::vector<Decision> cycle(int32_t trigger = PBS_SCH_SCHEDULE_CMD);
    // Begins a cycle. Returns whether it runs in a thread; `cycles_finished` then counts its end.
    bool start_cycle(int32_t trigger = PBS_SCH_SCHEDULE_CMD);
    std::vector<Decision> finish_cycle();
    // Returns the decision about one job. Returns nullopt after an error; `code` then has the error.
    std::optional<Decision> place_job(uint64_t job, int32_t& code);
    // Calls test_start(). `answer` gets its reply.
    int32_t test_start(const pbs_start_request& request, pbs_cycle_result& result, Answer& answer);
    uint32_t tick();
    int64_t next_deadline();

    bool logged(std::string_view part) const;

    uint32_t own_sched = 0;  // pbs_sched_record.own; for a host with pbs_sched
    std::string directives;  // pbs_sched_record.directives of the default scheduler
    std::string sched_priv;  // the scheduler's folder; empty: below the home
    bool commits = true;     // commit() follows each Manager request, as in a host with a single client
    int64_t now = kMonday10;
    pbs_identity who{};  // the client; by default a manager
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

// These functions return authenticated identities: of a manager, an operator and an ordinary user.
pbs_identity manager_identity();
pbs_identity operator_identity();
pbs_identity user_identity();

}  // namespace pbs::plugin_test

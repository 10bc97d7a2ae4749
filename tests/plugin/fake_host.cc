#include "tests/plugin/fake_host.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <thread>

#include "ifl/pbs_error.h"
#include "ifl/reply.h"
#include "tests/file_text.h"

struct pbs_reply {
    pbs::plugin_test::Answer answer;
};

namespace pbs::plugin_test {
namespace {
namespace fs = std::filesystem;

enum Resource : uint32_t { kNcpus, kMem, kWalltime, kHpm };

pbs_str c_str(std::string_view text) {
    return {text.data(), text.size()};
}
std::string text(pbs_str str) {
    return str.len == 0 ? std::string() : std::string(str.ptr, str.len);
}

void on_log(void* context, int32_t level, pbs_str object, pbs_str message) {
    static_cast<FakeHost*>(context)->log.push_back(std::to_string(level) + " " + text(object) + ": " +
                                                   text(message));
}
void on_cycle_finished(void* context) {
    ++static_cast<FakeHost*>(context)->cycles_finished;
}
void on_work_finished(void* context) {
    ++static_cast<FakeHost*>(context)->works_finished;
}
void on_error(pbs_reply* reply, int32_t code, pbs_str message) {
    reply->answer.code = code;
    reply->answer.text = text(message);
}
void on_warning(pbs_reply* reply, pbs_str message) {
    reply->answer.warnings.push_back(text(message));
}
void add(Answer::Object& object, const std::string& name, const std::string& resource, std::string value) {
    object.attributes[name] = std::move(value);
    if (!resource.empty()) object.resources.push_back(name + "." + resource);
}
void on_object(pbs_reply* reply, int32_t type, pbs_str name, const pbs_attr* attrs, size_t count) {
    Answer::Object object{type, text(name), {}};
    for (size_t i = 0; i < count; ++i)
        add(object, text(attrs[i].name), text(attrs[i].resource), text(attrs[i].value));
    reply->answer.objects.push_back(std::move(object));
}
// Takes objects that the plugin has encoded, and decodes them as a client does.
void on_encoded(pbs_reply* reply, pbs_str encoded) {
    ifl::StatusReply one{{}, {{1, text(encoded)}}};
    const auto read = ifl::decode_reply(ifl::encode_reply({0, 0, std::move(one), false}));
    if (!read) throw std::runtime_error(read.error().message);
    for (const ifl::ObjectStatus& status : std::get<ifl::StatusReply>(read->body).objects) {
        Answer::Object object{static_cast<int32_t>(status.type), status.name, {}};
        for (const ifl::Attribute& attribute : status.attributes)
            add(object, attribute.name, attribute.resource, attribute.value);
        reply->answer.objects.push_back(std::move(object));
    }
}
void on_attr(pbs_reply* reply, const pbs_attr* attr) {
    reply->answer.attributes[text(attr->name)] = text(attr->value);
}

pbs_identity identity(std::string_view user, uint32_t privilege) {
    return pbs_identity{c_str(user), c_str("host.example"), privilege, 1};
}

pbs_amount amount(uint32_t resource, int64_t number) {
    return pbs_amount{resource, 0, number, {}};
}

}  // namespace

pbs_identity manager_identity() {
    return identity("mona", PBS_PRIV_MANAGER | PBS_PRIV_OPERATOR);
}
pbs_identity operator_identity() {
    return identity("otto", PBS_PRIV_OPERATOR);
}
pbs_identity user_identity() {
    return identity("ursula", PBS_PRIV_NONE);
}

std::string Answer::value(const std::string& name) const {
    if (objects.empty()) return "(none)";
    const auto found = objects.front().attributes.find(name);
    return found == objects.front().attributes.end() ? "(none)" : found->second;
}

FakeHost::FakeHost(std::optional<fs::path> home) : who(manager_identity()) {
    if (home) {
        home_ = *home;
    } else {
        std::string name = (fs::temp_directory_path() / "pbs-plugin-XXXXXX").string();
        if (!mkdtemp(name.data())) throw std::runtime_error("mkdtemp failed");
        home_ = name;
        own_home_ = true;
    }
    fs::create_directories(home_ / "server_priv");
    fs::create_directories(home_ / "sched_priv");
    home_text_ = home_.string();
    host.size = sizeof host;
    host.abi_version = PBS_PLUGIN_ABI_VERSION;
    host.context = this;
    host.home = c_str(home_text_);
    host.server_name = c_str("server1");
    host.time_zone = c_str("UTC");
    host.now = now;
    host.log = on_log;
    host.reply_error = on_error;
    host.reply_warning = on_warning;
    host.reply_object = on_object;
    host.reply_attr = on_attr;
    host.reply_encoded = on_encoded;
    host.cycle_finished = on_cycle_finished;
    host.work_finished = on_work_finished;
    plugin.size = sizeof plugin;
}

FakeHost::~FakeHost() {
    stop();
    if (library_) dlclose(library_);
    if (own_home_) {
        std::error_code ignored;
        fs::remove_all(home_, ignored);
    }
}

void FakeHost::write(const std::string& file, std::string_view content) const {
    fs::create_directories((home_ / file).parent_path());
    std::ofstream(home_ / file) << content;
}

std::string FakeHost::read(const std::string& file) const {
    return pbs::test::file_text(home_ / file);
}

int32_t FakeHost::init() {
    if (!library_) library_ = dlopen(PBS_BUILD_DIR "/bin/pbs_policy.so", RTLD_NOW | RTLD_LOCAL);
    if (!library_) throw std::runtime_error(dlerror());
    const auto entry = reinterpret_cast<pbs_policy_plugin_init_fn>(dlsym(library_, PBS_PLUGIN_ENTRY));
    if (!entry) throw std::runtime_error("no entry point");
    std::array<char, 512> buffer{};
    const int32_t code = entry(&host, &plugin, buffer.data(), buffer.size());
    error = buffer.data();
    running_ = code == 0;
    return code;
}

int32_t FakeHost::start() {
    std::array<char, 512> buffer{};
    const int32_t code = plugin.start(plugin.self, now, buffer.data(), buffer.size());
    error = buffer.data();
    return code;
}

void FakeHost::define_resources() {
    const auto define = [this](uint32_t id, int32_t kind, std::string_view name, bool consumable) {
        pbs_resource_record record{};
        record.size = sizeof record;
        record.id = id;
        record.kind = kind;
        record.name = c_str(name);
        record.consumable = consumable ? 1 : 0;
        plugin.resource_defined(plugin.self, &record);
    };
    define(kNcpus, PBS_RES_LONG, "ncpus", true);
    define(kMem, PBS_RES_SIZE, "mem", true);
    define(kWalltime, PBS_RES_DURATION, "walltime", false);
    define(kHpm, PBS_RES_LONG, "hpm", false);
}

void FakeHost::introduce() {
    define_resources();
    pbs_server_record server{};
    server.size = sizeof server;
    server.name = c_str("server1");
    server.host_name = c_str("server1.example");
    server.max_running = server.max_user_run = server.max_group_run = server.backfill_depth = -1;
    plugin.server_changed(plugin.self, &server);
    tell_of_sched();
}

void FakeHost::tell_of_sched(uint32_t scheduling) {
    const std::string priv = sched_priv.empty() ? (home_ / "sched_priv").string() : sched_priv;
    pbs_sched_record sched{};
    sched.size = sizeof sched;
    sched.name = c_str("default");
    sched.scheduling = scheduling;
    sched.sched_priv = c_str(priv);
    sched.own = own_sched;
    sched.directives = c_str(directives);
    plugin.sched_changed(plugin.self, &sched);
}

void FakeHost::bring_up() {
    ASSERT_EQ(init(), 0) << error;
    introduce();
    ASSERT_EQ(start(), 0) << error;
}

void FakeHost::stop() {
    if (running_) plugin.stop(plugin.self, now);
    running_ = false;
}

Answer FakeHost::manager(int32_t command, int32_t type, const std::string& name,
                         const std::vector<Change>& changes) {
    std::vector<pbs_attr> attrs;
    attrs.reserve(changes.size());
    for (const Change& change : changes) {
        attrs.push_back({c_str(change.name), {}, c_str(change.value), change.op, 0});
    }
    pbs_manager_request request{};
    request.size = sizeof request;
    request.now = now;
    request.command = command;
    request.object_type = type;
    request.object_name = c_str(name);
    request.attrs = attrs.data();
    request.attr_count = attrs.size();
    request.who = who;
    return manager(request);
}

Answer FakeHost::manager(const pbs_manager_request& request) {
    pbs_reply reply;
    const int32_t code = plugin.manager(plugin.self, &request, &reply);
    EXPECT_EQ(code, reply.answer.code) << "result and reply differ";
    if (commits && plugin.commit != nullptr && code == 0) {
        char text[256] = "";
        reply.answer.code = plugin.commit(plugin.self, now, text, sizeof text);
        reply.answer.text = text;
    }
    return reply.answer;
}

Answer FakeHost::set(int32_t type, const std::string& name, const std::string& attribute,
                     const std::string& value, int32_t op) {
    return manager(PBS_CMD_SET, type, name, {{attribute, value, op}});
}

Answer FakeHost::ask(uint64_t ticket, int32_t type, const std::string& name, const Change& change) {
    const size_t dot = std::min(change.name.find('.'), change.name.size());
    const std::string attribute = change.name.substr(0, dot);
    const std::string resource = change.name.substr(std::min(dot + 1, change.name.size()));
    const pbs_attr attr{c_str(attribute), c_str(resource), c_str(change.value), change.op, 0};
    pbs_manager_request request{};
    request.size = sizeof request;
    request.now = now;
    request.command = PBS_CMD_SET;
    request.object_type = type;
    request.object_name = c_str(name);
    request.attrs = &attr;
    request.attr_count = 1;
    request.who = who;
    request.ticket = ticket;
    return manager(request);
}

Answer FakeHost::await(uint64_t ticket, int32_t type, const std::string& name, const Change& change) {
    for (;;) {
        Answer answer = ask(ticket, type, name, change);
        if (answer.code != PBSE_TRYAGAIN) return answer;
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
}

Answer FakeHost::status(int32_t type, const std::string& name, const std::vector<std::string>& wanted) {
    std::vector<pbs_str> names;
    names.reserve(wanted.size());
    for (const std::string& attribute : wanted) names.push_back(c_str(attribute));
    pbs_status_request request{};
    request.size = sizeof request;
    request.now = now;
    request.object_type = type;
    request.object_name = c_str(name);
    request.wanted = names.data();
    request.wanted_count = names.size();
    request.who = who;
    return status(request);
}

Answer FakeHost::status(const pbs_status_request& request) {
    pbs_reply reply;
    const int32_t code = plugin.status(plugin.self, &request, &reply);
    EXPECT_EQ(code, reply.answer.code) << "result and reply differ";
    return reply.answer;
}

int32_t FakeHost::test_start(const pbs_start_request& request, pbs_cycle_result& result, Answer& answer) {
    pbs_reply reply;
    const int32_t code = plugin.test_start(plugin.self, &request, &result, &reply);
    answer = reply.answer;
    return code;
}

std::map<std::string, std::string> FakeHost::attributes_of(int32_t type, const std::string& name) {
    pbs_reply reply;
    plugin.status_attrs(plugin.self, now, type, c_str(name), &reply);
    return reply.answer.attributes;
}

std::string FakeHost::peer_queue() {
    pbs_reply reply;
    plugin.peer_queues(plugin.self, now, c_str("default"), &reply);
    return reply.answer.attributes["peer_queue"];
}

void FakeHost::queue(uint64_t handle, const std::string& name, int64_t max_ncpus, int64_t max_walltime) {
    std::vector<pbs_amount> max;
    if (max_ncpus >= 0) max.push_back(amount(kNcpus, max_ncpus));
    if (max_walltime >= 0) max.push_back(amount(kWalltime, max_walltime));
    pbs_queue_record record{};
    record.size = sizeof record;
    record.queue = handle;
    record.name = c_str(name);
    record.flags = PBS_QUEUE_EXECUTION | PBS_QUEUE_STARTED | PBS_QUEUE_ENABLED;
    record.max_running = record.max_user_run = record.max_group_run = record.backfill_depth = -1;
    record.resources_max = max.data();
    record.resources_max_count = max.size();
    plugin.queue_changed(plugin.self, &record);
}

void FakeHost::vnode(uint64_t handle, const std::string& name, int64_t ncpus, int64_t mem_mb,
                     const std::string& host_name) {
    const std::array available{amount(kNcpus, ncpus), amount(kMem, mem_mb << 20)};
    pbs_vnode_record record{};
    record.size = sizeof record;
    record.vnode = handle;
    record.name = c_str(name);
    record.host = c_str(host_name.empty() ? name : host_name);
    record.resources_available = available.data();
    record.resources_available_count = available.size();
    record.load_thousandths = -1;
    plugin.vnode_changed(plugin.self, &record);
}

void FakeHost::job(const Job& job) {
    const std::string id = std::to_string(job.handle) + ".server1";
    std::vector<pbs_amount> requested{amount(kNcpus, job.ncpus), amount(kMem, job.mem_mb << 20),
                                      amount(kWalltime, job.walltime)};
    if (job.hpm >= 0) requested.push_back(amount(kHpm, job.hpm));
    const std::array held{amount(kNcpus, job.ncpus), amount(kMem, job.mem_mb << 20)};
    const pbs_place place{job.vnode, held.data(), held.size()};
    pbs_job_record record{};
    record.size = sizeof record;
    record.job = record.sequence = job.handle;
    record.id = c_str(id);
    record.owner = c_str(job.owner);
    record.group = c_str(job.group);
    record.queue = job.queue;
    record.state = static_cast<unsigned char>(job.state);
    record.flags = PBS_JOB_RERUNNABLE | (job.has_comment ? PBS_JOB_HAS_COMMENT : 0);
    record.ctime = record.qtime = record.etime = record.mtime = job.ctime ? job.ctime : now;
    record.stime = job.state == 'R' ? now : 0;
    record.walltime = job.walltime;
    record.requested = requested.data();
    record.requested_count = requested.size();
    record.places = &place;
    record.place_count = job.state == 'R' ? 1 : 0;
    plugin.job_changed(plugin.self, now, &record);
}

void FakeHost::job_removed(uint64_t handle) {
    plugin.job_removed(plugin.self, now, handle);
}

namespace {

std::vector<Decision> decisions_of(const pbs_cycle_result& result) {
    std::vector<Decision> decisions;
    for (size_t i = 0; i < result.decision_count; ++i) {
        const pbs_decision& in = result.decisions[i];
        Decision out{in.kind, in.job, in.queue, text(in.text), {}};
        for (size_t p = 0; p < in.place_count; ++p) out.vnodes.push_back(in.places[p].vnode);
        decisions.push_back(std::move(out));
    }
    return decisions;
}

pbs_cycle_request cycle_request(int64_t now, int32_t trigger) {
    pbs_cycle_request request{};
    request.size = sizeof request;
    request.now = now;
    request.sched = c_str("default");
    request.trigger = trigger;
    return request;
}

}  // namespace

std::vector<Decision> FakeHost::cycle(int32_t trigger) {
    const int before = cycles_finished;
    start_cycle(trigger);
    std::vector<Decision> decisions = finish_cycle();
    cycles_finished = before;
    return decisions;
}

bool FakeHost::start_cycle(int32_t trigger) {
    const pbs_cycle_request request = cycle_request(now, trigger);
    int32_t running = -1;
    EXPECT_EQ(plugin.start_cycle(plugin.self, &request, &running), 0);
    return running == 1;
}

std::vector<Decision> FakeHost::finish_cycle() {
    pbs_cycle_result result{};
    result.size = sizeof result;
    EXPECT_EQ(plugin.finish_cycle(plugin.self, now, &result), 0);
    return decisions_of(result);
}

std::optional<Decision> FakeHost::place_job(uint64_t job, int32_t& code) {
    const pbs_place_request request{sizeof request, now, job, 0};
    pbs_cycle_result result{};
    result.size = sizeof result;
    code = plugin.place_job(plugin.self, &request, &result);
    const std::vector<Decision> decided = decisions_of(result);
    EXPECT_EQ(decided.size(), code == 0 ? 1u : 0u);
    return decided.empty() ? std::nullopt : std::optional(decided.front());
}

uint32_t FakeHost::tick() {
    return plugin.tick(plugin.self, now);
}
int64_t FakeHost::next_deadline() {
    return plugin.next_deadline(plugin.self, now);
}

bool FakeHost::logged(std::string_view part) const {
    return std::any_of(log.begin(), log.end(),
                       [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

}  // namespace pbs::plugin_test

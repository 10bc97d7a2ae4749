#include "server_plugin/host/policy/plugin.h"

#include <new>
#include <utility>

#include "server_plugin/host/base/log.h"
#include "server_plugin/host/policy/plugin_records.h"

namespace pbs::host {
namespace {

using cluster::c_str;

LogEvent event_of(int32_t level) {
    switch (level) {
        case PBS_LOG_ERROR:
            return LogEvent::error;
        case PBS_LOG_DEBUG:
            return LogEvent::debug2;
        default:
            return LogEvent::sched;
    }
}

void add_line(std::string& lines, std::string_view line) {
    if (!lines.empty() && !line.empty()) lines += '\n';
    lines += line;
}

// Converts a HostRecord to records of the C interface. The records point to texts of this object and of the
// HostRecord, so both have to outlive them.
class ChangeRecords {
  public:
    explicit ChangeRecords(const HostRecord& record) {
        std::span<const ChangeText> texts = record.texts;
        if (texts.empty()) {
            for (const ConfigChange& change : record.changes)
                texts_.push_back({to_json(change.before), to_json(change.after)});
            texts = texts_;
        }
        for (size_t i = 0; i < record.changes.size(); ++i) {
            pbs_host_change out{};
            out.object_type = record.changes[i].object.type;
            out.name = c_str(record.changes[i].object.name);
            out.before = c_str(texts[i].before);
            out.after = c_str(texts[i].after);
            records_.push_back(out);
        }
    }
    const std::vector<pbs_host_change>& records() const { return records_; }

  private:
    std::vector<ChangeText> texts_;
    std::vector<pbs_host_change> records_;
};

}  // namespace

Plugin::Plugin() = default;
Plugin::~Plugin() = default;

Result<std::unique_ptr<Plugin>> Plugin::load(client::Options options, Log& log) {
    options.log = [&log](int32_t level, std::string_view object, std::string_view line) {
        log.write(event_of(level), LogClass::sched, object, line);
    };
    options.pulls = true;
    options.takes = PBS_TAKES_ESTIMATES | PBS_TAKES_PIECES | PBS_TAKES_PREEMPTIONS | PBS_TAKES_RESERVATIONS;
    options.takes_of_place_job = options.takes;
    std::unique_ptr<Plugin> plugin(new Plugin);
    if (auto loaded = plugin->client::Plugin::load(std::move(options)); !loaded)
        return tl::unexpected(loaded.error());
    return plugin;
}

Result<void> Plugin::manager(int64_t now, int command, int object_type, std::string_view name,
                             const ifl::Attributes& attributes, const Identity& who, std::string_view extend,
                             std::string& warning, const HostRecord& record, uint64_t ticket) {
    const ChangeRecords changes(record);
    const auto warned =
        client::Plugin::manager(now,
                                {command, static_cast<uint32_t>(object_type), std::string(name), attributes,
                                 std::string(extend), false, ticket, record.text, changes.records()},
                                who);
    if (!warned) return tl::unexpected(warned.error());
    // The plugin has made the change, so a lack of memory may cost the warnings only.
    try {
        add_line(warning, *warned);
    } catch (const std::bad_alloc&) {
        return {};
    }
    return {};
}

void Plugin::status_attributes(int64_t now, int object_type, std::string_view name,
                               ifl::Attributes& attributes) {
    for (ifl::Attribute& attribute : client::Plugin::shown(now, object_type, name))
        attributes.push_back(std::move(attribute));
}

void Plugin::not_acted_on(int64_t now, std::string_view queue, std::string_view partition,
                          const ifl::Attributes& attributes, std::string& warning) {
    add_line(warning, client::Plugin::not_acted_on(now, queue, partition, attributes));
}

std::vector<PeerQueue> Plugin::peer_queues(int64_t now, std::string_view sched) const {
    std::vector<PeerQueue> queues;
    for (const std::string& value : client::Plugin::peer_queues(now, sched)) {
        const auto space = value.find(' ');
        const auto at = value.find('@');
        if (space == std::string::npos || at == std::string::npos || at < space) continue;
        queues.push_back(
            {value.substr(0, space), value.substr(space + 1, at - space - 1), value.substr(at + 1)});
    }
    return queues;
}

RecordBuilder& Plugin::records_of(const State& state) {
    if (!records_ || !records_->is_of(state)) records_ = std::make_unique<RecordBuilder>(state);
    return *records_;
}

void Plugin::resource_defined(const Resource& resource) {
    client::Plugin::tell(resource_record(resource));
}
void Plugin::server_changed(const State& state) {
    client::Plugin::tell(records_of(state).server());
}
void Plugin::sched_changed(const Sched& sched, const State& state) {
    client::Plugin::tell(records_of(state).sched(sched));
}
void Plugin::queue_changed(const Queue& queue, const State& state) {
    client::Plugin::tell(records_of(state).queue(queue));
}
void Plugin::node_changed(const Node& node, const State& state) {
    client::Plugin::tell(records_of(state).node(node, load_));
}
void Plugin::job_changed(int64_t now, const Job& job, const State& state) {
    const pbs_job_record& record = records_of(state).job(job);
    if (record.state != job_state::kQueued || !aside_.contains(record.job))
        return client::Plugin::tell(now, record);
    pbs_job_record aside = record;
    aside.state = 'A';
    client::Plugin::tell(now, aside);
}
void Plugin::put_aside(int64_t now, uint64_t job, const State& state) {
    const Job* known = state.job_told_as(job);
    if (known != nullptr && aside_.insert(job).second) tell(now, *known, state);
}
void Plugin::take_up(int64_t now, uint64_t job, const State& state) {
    const Job* known = state.job_told_as(job);
    if (aside_.erase(job) > 0 && known != nullptr) tell(now, *known, state);
}
void Plugin::tell(int64_t now, const Job& job, const State& state) {
    if (job.history() || (job.is_subjob() && !job.running()))
        job_removed(now, job.told_as());
    else
        job_changed(now, job, state);
}
void Plugin::reservation_changed(const Reservation& reservation, const State& state) {
    client::Plugin::tell(records_of(state).reservation(reservation));
}

std::map<std::string, int> Plugin::tick(int64_t now, const State& state) {
    client::Plugin::tick(now);
    std::map<std::string, int> due;
    for (const auto& [name, sched] : state.scheds())
        if (const int trigger = client::Plugin::wanted(name); trigger != 0) due[name] = trigger;
    return due;
}

Result<Decision> Plugin::place_job(int64_t now, uint64_t job, const State& state) {
    const auto decisions = client::Plugin::place_job(now, job);
    if (!decisions) return tl::unexpected(decisions.error());
    return decisions->at(decisions->size() - 1, StateNames(state));
}

Result<Decision> Plugin::test_start(int64_t now, uint64_t job, const std::vector<Place>& places,
                                    const State& state, std::string_view user, uint64_t ticket,
                                    std::vector<ifl::ObjectStatus>* explanation) {
    const std::vector<uint8_t> joined = cluster::joined_in(places);
    const auto decisions = client::Plugin::test_start(
        now, {job, records_of(state).places(places), joined, user, ticket}, explanation);
    if (!decisions) return tl::unexpected(decisions.error());
    return decisions->at(decisions->size() - 1, StateNames(state));
}

}  // namespace pbs::host

// Writes the record of a cycle (record_file.h). It writes the JSON itself, for speed: there may be a million
// jobs.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "objects/config_json.h"
#include "objects/snapshot.h"
#include "server_plugin/record/fields.h"
#include "server_plugin/record/record_file.h"
#include "text/json.h"

namespace pbs::record {

// Writes a JSON object, which the constructor begins and close() ends.
class JsonOut {
  public:
    static constexpr bool kReads = false;

    JsonOut(std::string& out, const RecordWriter::Names& names) : out_(out), names_(names) { out_ += '{'; }
    void close() { out_ += '}'; }

    template <class T, class D>
    void operator()(std::string_view key, const T& value, const D& usual) {
        if (value == static_cast<T>(usual)) return;
        begin(key);
        write(value);
    }
    void operator()(std::string_view key, std::string_view value, const char* usual) {
        if (value == usual) return;
        begin(key);
        text::append_json(out_, value);
    }
    void amounts(std::string_view key, std::span<const sched::Amount> amounts) {
        if (amounts.empty()) return;
        begin(key);
        each(amounts, [&](const sched::Amount& a) { write(a); });
    }
    template <class T>
    void list(std::string_view key, const T& list) {
        if (list.empty()) return;
        begin(key);
        each(list, [&](const auto& element) { write_element(element); });
    }
    template <class T>
    void optional_list(std::string_view key, const std::optional<std::vector<T>>& list) {
        if (!list) return;
        begin(key);
        each(*list, [&](const T& element) { write_element(element); });
    }
    template <class T>
    void optional(std::string_view key, const std::optional<T>& value) {
        if (!value) return;
        begin(key);
        write(*value);
    }
    template <class T>
    void map(std::string_view key, const std::optional<T>& map) {
        if (map) write_map(key, *map);
    }
    template <class T>
    void map(std::string_view key, const T& map) {
        if (!map.empty()) write_map(key, map);
    }
    void state(std::string_view key, char state) {
        begin(key);
        text::append_json(out_, {&state, 1});
    }
    void raw(std::string_view key, std::string_view json) {
        begin(key);
        out_ += json;
    }

  private:
    void begin(std::string_view key) {
        if (out_.back() != '{') out_ += ',';
        out_.append("\"").append(key).append("\":");
    }
    template <class List, class Write>
    void each(const List& list, Write write) {
        out_ += '[';
        bool first = true;
        for (const auto& element : list) {
            if (!first) out_ += ',';
            first = false;
            write(element);
        }
        out_ += ']';
    }
    template <class T>
    void write_map(std::string_view key, const T& map) {
        begin(key);
        out_ += '{';
        bool first = true;
        for (const auto& [name, value] : map) {
            // Escape bytes that may not be UTF-8: a key can't be {"hex":...}, as a value can.
            if (!first) out_ += ',';
            first = false;
            out_ += '"';
            for (const char c : name) append_key_byte(c);
            out_ += "\":";
            write_element(value);
        }
        out_ += '}';
    }
    // Writes a byte of a key. Bytes outside printable ASCII, quotation marks, backslashes and percent signs
    // become %e9 and the like.
    void append_key_byte(char c) {
        if (c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '%')
            out_ += c;
        else
            out_ += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    }
    void write_element(std::string_view text) { text::append_json(out_, text); }
    void write_element(const std::string& text) { text::append_json(out_, text); }
    void write_element(double number) { write(number); }
    template <class T>
    void write_element(const T& element) {
        JsonOut object(out_, names_);
        fields(object, element);
        object.close();
    }
    void write(const sched::Amount& a) {
        out_ += '[';
        const bool known = a.resource < names_.resources.size() &&
                           names_.first.contains(names_.resources[a.resource]) &&
                           names_.first.at(names_.resources[a.resource]) == a.resource;
        if (known)
            text::append_json(out_, names_.resources[a.resource]);
        else
            write(a.resource);
        if (a.text.empty() || a.number != 0) {
            out_ += ',';
            write(a.number);
        }
        if (!a.text.empty()) {
            out_ += ',';
            text::append_json(out_, a.text);
        }
        out_ += ']';
    }
    void write(bool value) { out_ += value ? "true" : "false"; }
    void write(const std::string& text) { text::append_json(out_, text); }
    void write(double value) {
        if (std::isfinite(value))
            out_ += fmt::format("{}", value);
        else
            out_ += fmt::format("\"{}\"", value);
    }
    void write(Instant value) { write(value.time_since_epoch().count()); }
    void write(Seconds value) { write(value.count()); }
    template <class T>
    void write(const T& value) requires std::is_integral_v<T> {
        out_ += fmt::format("{}", value);
    }
    template <class T>
    void write(const T& value) requires std::is_enum_v<T> {
        if constexpr (Worded<T>) {
            for (const auto& [known, word] : Words<T>::kList)
                if (known == value) return text::append_json(out_, word);
        }
        write(static_cast<std::underlying_type_t<T>>(value));
    }

    std::string& out_;
    const RecordWriter::Names& names_;
};

namespace {

void append_object(std::string& out, std::string_view type, const objects::Object& object) {
    out += '{';
    if (!type.empty()) out.append(R"("type":")").append(type).append("\",");
    out += R"("name":)";
    text::append_json(out, object.name());
    out.append(R"(,"attributes":)").append(objects::to_json(&object)).append("}");
}

void append_snapshot(std::string& out, const objects::Snapshot& snapshot) {
    for (const objects::ObjectType type : objects::kConfiguredTypes) {
        for (const objects::ObjectPtr& object : snapshot.objects(type)) {
            out += R"({"object":)";
            append_object(out, objects::type_name(type), *object);
            out += "}\n";
        }
    }
}

void append_sched_config(std::string& out, const sched::SchedConfigState& state) {
    out += R"({"sched_config":{"sched":)";
    text::append_json(out, state.sched);
    for (const auto& [slot, object] :
         {std::pair("all_time", &state.all_time), std::pair("prime", &state.prime),
          std::pair("non_prime", &state.non_prime)}) {
        if (*object == nullptr) continue;
        out += fmt::format(",\"{}\":", slot);
        append_object(out, {}, **object);
    }
    out += "}}\n";
}

}  // namespace

void RecordWriter::flush() {
    if (sink_ && !text_.empty()) sink_(text_);
    if (sink_) text_.clear();
}

void RecordWriter::end_line() {
    constexpr std::size_t kPart = std::size_t{64} << 10;
    text_ += '\n';
    if (sink_ && text_.size() >= kPart) flush();
}

void RecordWriter::begin(std::string_view time_zone, std::int64_t version) {
    text_ += fmt::format("{{\"pbspolicy_record\":{},\"time_zone\":", kRecordFormat);
    text::append_json(text_, time_zone);
    if (version != 0) text_ += fmt::format(",\"version\":{}", version);
    text_ += '}';
    end_line();
}

void RecordWriter::object(const sched::Inspector& scheduler, const sched::ObjectRef& object) {
    using Kind = sched::ObjectRef::Kind;
    const bool configured = object.kind == Kind::configured;
    if (!configured) {
        if (scheduler.describe_one(object, [this](const sched::StateRecord& record) { state(record); }))
            return;
    } else if (const auto snapshot = scheduler.configuration()) {
        const auto type = static_cast<objects::ObjectType>(object.id);
        if (const objects::Object* found = snapshot->find(type, object.name)) {
            text_ += R"({"object":)";
            append_object(text_, objects::type_name(type), *found);
            text_ += '}';
            return end_line();
        }
    }
    static constexpr std::array<std::string_view, 8> kKeys{"resource", "server",      "sched", "queue",
                                                           "vnode",    "reservation", "job",   "object"};
    text_ += fmt::format("{{\"gone\":{{\"{}\":", kKeys.at(static_cast<std::size_t>(object.kind)));
    if (configured) {
        text_ += fmt::format("{{\"type\":\"{}\",\"name\":",
                             objects::type_name(static_cast<objects::ObjectType>(object.id)));
        text::append_json(text_, object.name);
        text_ += '}';
    } else if (object.kind == Kind::sched) {
        text::append_json(text_, object.name);
    } else {
        text_ += std::to_string(object.id);
    }
    text_ += "}}";
    end_line();
}

void RecordWriter::state_names(const sched::StateRecord& record) {
    if (const auto* resource = std::get_if<sched::ResourceRecord>(&record)) {
        if (resource->id >= names_.resources.size()) names_.resources.resize(resource->id + 1);
        std::string& name = names_.resources[resource->id];
        if (name == resource->name) return;
        const bool renamed = !name.empty();
        name = resource->name;
        const auto add = [this](std::uint32_t id) {
            if (names_.resources[id].empty()) return;
            const auto [found, is_new] = names_.first.try_emplace(names_.resources[id], id);
            if (!is_new) found->second = std::min(found->second, id);
        };
        if (!renamed) return add(resource->id);
        names_.first.clear();  // its keys are views of the names
        for (std::uint32_t id = 0; id < names_.resources.size(); ++id) add(id);
    } else if (const auto* queue = std::get_if<sched::QueueState>(&record)) {
        names_.queues[static_cast<std::uint64_t>(queue->record.queue)] = queue->record.name;
    } else if (const auto* vnode = std::get_if<sched::VnodeState>(&record)) {
        names_.vnodes[static_cast<std::uint64_t>(vnode->record.vnode)] = vnode->record.name;
    } else if (const auto* one = std::get_if<sched::ReservationState>(&record)) {
        names_.reservations[static_cast<std::uint64_t>(one->record.reservation)] = one->record.id;
    } else if (const auto* job = std::get_if<sched::JobState>(&record)) {
        names_.jobs[static_cast<std::uint64_t>(job->record.job)] = job->record.id;
    }
}

void RecordWriter::state(const sched::StateRecord& record) {
    state_names(record);
    std::visit(
        [&]<class T>(const T& one) {
            if constexpr (std::is_same_v<T, sched::ConfigurationState>) {
                if (one.snapshot) append_snapshot(text_, *one.snapshot);
            } else if constexpr (std::is_same_v<T, sched::SchedConfigState>) {
                append_sched_config(text_, one);
            } else {
                text_ += fmt::format("{{\"{}\":", key_of<T>());
                JsonOut object(text_, names_);
                fields(object, one);
                object.close();
                text_ += '}';
                end_line();
            }
        },
        static_cast<const sched::AnyStateRecord&>(record));
}

void RecordWriter::cycle(const CycleAsked& asked) {
    text_ += R"({"cycle":)";
    JsonOut object(text_, names_);
    fields(object, asked);
    object.close();
    text_ += '}';
    end_line();
}

// Writes the decisions in the order in which a server carries them out, and then the other results.
void RecordWriter::decisions(const sched::Decisions& decided) {
    const auto line = [&](std::string_view key, auto write) {
        text_ += fmt::format("{{\"{}\":", key);
        JsonOut object(text_, names_);
        write(object);
        object.close();
        text_ += '}';
        end_line();
    };
    const auto name = [](const auto& names, auto handle) -> std::string_view {
        const auto found = names.find(static_cast<std::uint64_t>(handle));
        return found == names.end() ? std::string_view() : found->second;
    };
    static constexpr std::array<std::string_view, 10> kKinds{
        "?", "run", "comment", "reject", "move", "estimate", "preempt", "accrue", "confirm", "deny"};
    for (const sched::Decision& d : decided.list) {
        // Leave out weights: they follow from the weights that the host was told before, which a record
        // lacks.
        if (d.kind == sched::DecisionKind::weigh) continue;
        line(kKinds.at(static_cast<std::size_t>(d.kind)), [&](JsonOut& out) {
            out("reservation", name(names_.reservations, d.reservation), "");
            out("job", name(names_.jobs, d.job), "");
            out("queue", name(names_.queues, d.queue), "");
            out("text", d.text, "");
            out.amounts("set", d.set_resources);
            out("accrue_type", d.accrue_type, sched::AccrueType::initial);
            out("after_preemptions", d.after_preemptions, false);
            out("together", d.together, 0U);
            if (d.kind == sched::DecisionKind::preempt) {
                std::string methods;
                for (const sched::PreemptMethod method : d.methods)
                    if (method != sched::PreemptMethod::none) methods += static_cast<char>(method);
                out("for", name(names_.jobs, d.for_job), "");
                out("methods", std::string_view(methods), "");
            }
            if (d.places.empty()) return;
            std::string places = "[";
            for (const sched::Place& place : d.places) {
                if (places.size() > 1) places += ',';
                JsonOut object(places, names_);
                object("vnode", name(names_.vnodes, place.vnode), "");
                object.amounts("amounts", place.amounts);
                object("joined", place.joined, false);
                object("next_occurrence", place.next_occurrence, false);
                object.close();
            }
            out.raw("places", places + "]");
        });
    }
    for (const std::string& text : decided.log) line("log", [&](JsonOut& out) { out("text", text, ""); });
    if (decided.sorted_jobs) {
        line("sorted_jobs", [&](JsonOut& out) {
            out("path", decided.sorted_jobs->path, "");
            out("text", decided.sorted_jobs->text, "");
        });
    }
    if (decided.schedule) {
        line("schedule", [&](JsonOut& out) {
            out("path", decided.schedule->path, "");
            out("text", decided.schedule->text, "");
        });
    }
    line("end", [&](JsonOut& out) {
        out("jobs_considered", decided.jobs_considered, -1);
        out.list("wants", decided.wants);
    });
}

void record_cycle(sched::Inspector& scheduler, CycleAsked asked, RecordWriter::Sink sink,
                  const std::atomic<bool>& give_up) {
    asked.whole_chunks = !scheduler.divides_chunks();
    asked.no_preemption = !scheduler.preempts();
    RecordWriter writer(std::move(sink));
    writer.begin(scheduler.zone().name(), asked.version);
    scheduler.describe([&](const sched::StateRecord& record) { writer.state(record); }, &give_up);
    if (give_up) return;
    writer.cycle(asked);
    writer.decisions(scheduler.rehearse(asked.now, asked.sched, asked.trigger));
    writer.flush();
}

}  // namespace pbs::record

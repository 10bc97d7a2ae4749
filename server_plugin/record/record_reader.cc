// Reads the record of a cycle (record_file.h).

#include <fmt/format.h>

#include <algorithm>
#include <any>
#include <charconv>
#include <deque>
#include <limits>
#include <nlohmann/json.hpp>

#include "objects/config_json.h"
#include "objects/draft.h"
#include "objects/snapshot.h"
#include "server_plugin/record/fields.h"
#include "server_plugin/record/record_file.h"
#include "text/json.h"
#include "text/json_document.h"
#include "values/number.h"
#include "values/object_types.h"
#include "values/text.h"

namespace pbs::record {
namespace {

using Json = nlohmann::json;

// The largest instant and duration: a hundred million years from 0.
constexpr std::int64_t kFarthest = std::int64_t{1} << 53;
// The limit for ids of resources: the ids of a server are dense, so a larger one is a mistake.
constexpr std::uint32_t kMostResources = 1'000'000;

// Owns the strings and lists to which the objects of one line point.
class Memory {
  public:
    std::string_view keep(std::string text) { return strings_.emplace_back(std::move(text)); }
    template <class T>
    std::vector<T>& keep(std::vector<T> list) {
        return std::any_cast<std::vector<T>&>(lists_.emplace_back(std::move(list)));
    }
    void clear() {
        strings_.clear();
        lists_.clear();
    }

  private:
    std::deque<std::string> strings_;
    std::deque<std::any> lists_;
};

// Data that the readers of a record share: the memory and the problem of the present line, and the resources
// that the record has defined so far.
struct Reading {
    Memory memory;
    std::unordered_map<std::string, std::uint32_t> resources;  // the first resource with each name
    std::string problem;                                       // the first problem of a line; empty: none

    void fail(std::string_view where, std::string_view key, std::string_view expected) {
        if (problem.empty()) problem = fmt::format("{}: {}: expected {}", where, key, expected);
    }
};

class JsonIn {
  public:
    static constexpr bool kReads = true;

    JsonIn(const Json& object, std::string where, Reading& reading)
        : object_(object), where_(std::move(where)), r_(reading) {
        if (!object.is_object() && r_.problem.empty()) r_.problem = where_ + ": expected an object {...}";
    }
    // Fails if the object has a key that nobody has read.
    void close() const {
        if (!object_.is_object() || used_.size() == object_.size()) return;
        for (const auto& [key, value] : object_.items())
            if (std::ranges::find(used_, key) == used_.end())
                return r_.fail(where_, key, "no such key; is the record of a later version?");
    }

    template <class T, class D>
    void operator()(std::string_view key, T& value, const D&) {
        if (const Json* json = find(key)) read(key, *json, value);
    }
    void amounts(std::string_view key, std::span<const sched::Amount>& amounts) {
        const Json* json = find(key);
        if (json == nullptr) return;
        if (!json->is_array()) return fail(key, "an array of amounts, as in [[\"ncpus\",2]]");
        std::vector<sched::Amount> list;
        for (const Json& element : *json) read_amount(key, element, list.emplace_back());
        amounts = r_.memory.keep(std::move(list));
    }
    template <class T>
    void list(std::string_view key, std::span<const T>& list) {
        if (const Json* json = find(key)) list = r_.memory.keep(read_list<T>(key, *json));
    }
    template <class T>
    void optional_list(std::string_view key, std::optional<std::vector<T>>& list) {
        if (const Json* json = find(key)) list = read_list<T>(key, *json);
    }
    template <class T>
    void optional(std::string_view key, std::optional<T>& value) {
        if (const Json* json = find(key)) read(key, *json, value.emplace());
    }
    template <class T>
    void map(std::string_view key, std::optional<T>& map) {
        if (const Json* json = find(key)) read_map(key, *json, map.emplace());
    }
    template <class T>
    void map(std::string_view key, T& map) {
        if (const Json* json = find(key)) read_map(key, *json, map);
    }
    void state(std::string_view key, char& state) {
        const Json* json = find(key);
        if (json == nullptr) return;
        const auto text = text::from_json(*json);
        if (!text || text->size() != 1 || text->front() < 'A' || text->front() > 'Z')
            return fail(key, "a letter as in job_state, such as \"Q\"");
        state = text->front();
    }
    const Json* find(std::string_view key) {
        if (!object_.is_object()) return nullptr;
        const auto found = object_.find(key);
        if (found == object_.end()) return nullptr;
        used_.emplace_back(key);
        return &*found;
    }
    void fail(std::string_view key, std::string_view expected) { r_.fail(where_, key, expected); }

  private:
    template <class T>
    std::vector<T> read_list(std::string_view key, const Json& json) {
        std::vector<T> list;
        if (!json.is_array()) fail(key, "an array [...]");
        if (json.is_array())
            for (const Json& element : json) read_element(key, element, list.emplace_back());
        return list;
    }
    template <class T>
    void read_element(std::string_view key, const Json& json, T& element) {
        if constexpr (std::is_same_v<T, std::string_view> || std::is_same_v<T, std::string> ||
                      std::is_same_v<T, double>) {
            read(key, json, element);
        } else {
            JsonIn object(json, fmt::format("{}: {}", where_, key), r_);
            fields(object, element);
            object.close();
        }
    }
    template <class T>
    void read_map(std::string_view key, const Json& json, T& map) {
        if (!json.is_object()) return fail(key, "an object {...}");
        for (const auto& [name, value] : json.items()) {
            std::string bytes;
            if (!from_key(name, bytes)) return fail(key, "names with two hexadecimal digits after a %");
            read_element(key, value, map[std::move(bytes)]);
        }
    }
    static bool from_key(std::string_view name, std::string& bytes) {
        for (std::size_t i = 0; i < name.size(); ++i) {
            if (name[i] != '%') {
                bytes += name[i];
                continue;
            }
            const std::string_view digits = name.substr(i + 1, 2);
            const auto value = values::number<unsigned>(digits, 16);
            if (!value || digits.size() != 2) return false;
            bytes += static_cast<char>(*value);
            i += 2;
        }
        return true;
    }
    // Reads an amount: ["ncpus", 2], ["arch", "linux"] or, if the resource has no name, [7, 2].
    void read_amount(std::string_view key, const Json& json, sched::Amount& amount) {
        const std::string expected = "an amount: a resource and a number or a text, as in [\"ncpus\",2]";
        if (!json.is_array() || json.size() < 2 || json.size() > 3) return fail(key, expected);
        if (const auto name = text::from_json(json[0])) {
            const auto found = r_.resources.find(*name);
            if (found == r_.resources.end())
                return fail(key, fmt::format("a resource that a line before defines, found {}", *name));
            amount.resource = found->second;
        } else {
            read(key, json[0], amount.resource);
        }
        for (std::size_t i = 1; i < json.size(); ++i) {
            if (json[i].is_number())
                read(key, json[i], amount.number);
            else
                read(key, json[i], amount.text);
        }
    }
    void read(std::string_view key, const Json& json, bool& value) {
        if (!json.is_boolean()) return fail(key, "true or false");
        value = json.get<bool>();
    }
    void read(std::string_view key, const Json& json, std::string& value) {
        if (auto text = text::from_json(json))
            value = *std::move(text);
        else
            fail(key, "a string");
    }
    void read(std::string_view key, const Json& json, std::string_view& value) {
        if (auto text = text::from_json(json))
            value = r_.memory.keep(*std::move(text));
        else
            fail(key, "a string");
    }
    void read(std::string_view key, const Json& json, double& value) {
        if (json.is_number()) {
            value = json.get<double>();
        } else if (json == "inf" || json == "-inf" || json == "nan" || json == "-nan") {
            const auto& text = json.get_ref<const std::string&>();
            std::from_chars(text.data(), text.data() + text.size(), value);
        } else {
            fail(key, "a number");
        }
    }
    void read(std::string_view key, const Json& json, Instant& value) {
        std::int64_t number = 0;
        read(key, json, number);
        const bool never = number == Instant::max().time_since_epoch().count();
        if (!never && (number > kFarthest || number < -kFarthest))
            return fail(key, "an instant in seconds since 1970-01-01 UTC");
        value = Instant(Seconds(number));
    }
    void read(std::string_view key, const Json& json, Seconds& value) {
        std::int64_t number = 0;
        read(key, json, number);
        if (number > kFarthest || number < -kFarthest) return fail(key, "a duration in seconds");
        value = Seconds(number);
    }
    template <class T>
    void read(std::string_view key, const Json& json, T& value) requires std::is_integral_v<T> {
        bool fits = false;
        if (json.is_number_unsigned())
            fits = std::in_range<T>(json.get<std::uint64_t>());
        else if (json.is_number_integer())
            fits = std::in_range<T>(json.get<std::int64_t>());
        if (!fits)
            return fail(key, fmt::format("a whole number from {} to {}", std::numeric_limits<T>::min(),
                                         std::numeric_limits<T>::max()));
        value = json.get<T>();
    }
    template <class T>
    void read(std::string_view key, const Json& json, T& value) requires std::is_enum_v<T> {
        if constexpr (Worded<T>) {
            std::string words;
            for (const auto& [known, word] : Words<T>::kList) {
                if (json == word) {
                    value = known;
                    return;
                }
                words.append(words.empty() ? "" : ", ").append(word);
            }
            fail(key, "one of " + words);
        } else {
            std::underlying_type_t<T> number{};
            read(key, json, number);
            value = T(number);
        }
    }

    const Json& object_;
    std::string where_;
    Reading& r_;
    std::vector<std::string_view> used_;
};

// Makes a DecidedLine from a line after "cycle". Its text has sorted keys, so that two lines compare equal
// whatever their blanks and the order of their keys.
DecidedLine decided_line(const Json& line, std::size_t number) {
    DecidedLine decided{{}, text::write_json(line), number};
    const Json& inner = line.begin().value();
    for (const char* of : {"job", "reservation"})
        if (const auto id = inner.find(of); id != inner.end())
            decided.job = text::from_json(*id).value_or("");
    return decided;
}

class Reader {
  public:
    Reader(std::string_view name, RecordSink& sink) : name_(name), sink_(sink) {}

    Result<ReadRecord> read(std::string_view text) {
        while (!text.empty()) {
            ++line_;
            if (auto done = read_line(values::take_line(text)); !done) return tl::unexpected(done.error());
        }
        ++line_;
        if (!begun_) return fail(header_expected());
        if (last_ != place_of("end"))
            return fail("the record ends here, expected it to end with {\"end\":{...}}");
        return std::move(record_);
    }

  private:
    tl::unexpected<Error> fail(std::string_view what) const {
        return tl::unexpected(Error{fmt::format("{}:{}: {}", name_, line_, what)});
    }
    static std::string header_expected() {
        return fmt::format(
            "expected {{\"pbspolicy_record\":{},\"time_zone\":...}}, the first line of a record",
            kRecordFormat);
    }
    Result<void> located(const Result<void>& done) const {
        if (done) return {};
        return fail(done.error().message);
    }

    // A line of a record: its key, and the function that reads it.
    struct Line {
        std::string_view key;
        Result<void> (Reader::*read)(std::string_view key, const Json& line);
    };
    template <class T>
    static constexpr Line state_line() {
        return {key_of<T>(), &Reader::read_state<T>};
    }
    // The lines in the order of a record. Lines of decisions come in any order among themselves.
    static std::span<const Line> lines() {
        static constexpr Line kLines[] = {state_line<sched::ResourceRecord>(),
                                          state_line<sched::ServerRecord>(),
                                          state_line<sched::QueueState>(),
                                          state_line<sched::SchedState>(),
                                          state_line<sched::VnodeState>(),
                                          state_line<sched::ReservationState>(),
                                          state_line<sched::JobState>(),
                                          state_line<sched::PastUsageState>(),
                                          state_line<sched::AllocationsState>(),
                                          state_line<sched::OutagesState>(),
                                          state_line<sched::ToldState>(),
                                          {"object", &Reader::read_configured},
                                          {"sched_config", &Reader::read_sched_config},
                                          state_line<sched::FairShareState>(),
                                          state_line<sched::TickState>(),
                                          {"cycle", &Reader::read_cycle},
                                          {"confirm", &Reader::read_decided},
                                          {"deny", &Reader::read_decided},
                                          {"run", &Reader::read_decided},
                                          {"reject", &Reader::read_decided},
                                          {"comment", &Reader::read_decided},
                                          {"move", &Reader::read_decided},
                                          {"log", &Reader::read_decided},
                                          {"sorted_jobs", &Reader::read_decided},
                                          {"schedule", &Reader::read_decided},
                                          {"end", &Reader::read_decided}};
        return kLines;
    }
    // Returns the place of a line in the order; the number of all lines for an unknown key.
    static std::size_t place_of(std::string_view key) {
        return static_cast<std::size_t>(std::ranges::find(lines(), key, &Line::key) - lines().begin());
    }

    Result<void> read_line(std::string_view text) {
        const auto read = text::read_json(text);
        if (!read && !begun_) return fail(header_expected());
        if (!read && read.error().byte == 0)
            return fail("a number is too large, expected one that a floating-point number can be");
        if (!read)
            return fail(
                fmt::format("no JSON at column {}, expected one object in a line", read.error().byte));
        const Json& line = *read;
        if (!begun_) return read_header(line);
        if (!line.is_object() || line.size() != 1)
            return fail("expected an object with one key, as in {\"job\":{...}}");
        const std::string& key = line.begin().key();
        const std::size_t place = place_of(key);
        if (place == lines().size())
            return fail(
                fmt::format("unknown key {}, expected resource, queue, job or another of a record's; "
                            "is the record of a later version?",
                            line.begin().key()));
        if (auto ordered = in_order(place, key); !ordered) return ordered;
        r_.memory.clear();
        r_.problem.clear();
        auto done = (this->*lines()[place].read)(key, line);
        if (done && !r_.problem.empty()) return fail(r_.problem);
        return done;
    }

    Result<void> read_header(const Json& line) {
        const auto version = line.is_object() ? line.find("pbspolicy_record") : line.end();
        if (!line.is_object() || version == line.end()) return fail(header_expected());
        if (*version != kRecordFormat)
            return fail(fmt::format("format {}, expected {}: is the record of another version?",
                                    version->dump(), kRecordFormat));
        const auto zone = line.find("time_zone");
        const auto name = zone == line.end() ? std::nullopt : text::from_json(*zone);
        if (!name) return fail(header_expected());
        begun_ = true;
        return located(sink_.begin(*name));
    }

    // Checks that the lines come in order, and that there is only one line with the keys server, cycle and
    // end.
    Result<void> in_order(std::size_t place, std::string_view key) {
        if (place > cycle_ && key != "end") place = cycle_ + 1;
        const bool once = key == "server" || key == "cycle" || key == "end";
        if (last_ && (place < *last_ || (once && place == *last_)))
            return fail(fmt::format("{} isn't expected here, in the order of a record's lines", key));
        if (place > cycle_ && (!last_ || *last_ < cycle_))
            return fail(fmt::format("{} before a line with the key cycle", key));
        // At the first line after the objects, hand the configuration to the sink: it is complete.
        const bool is_first_after = place > object_ && (!last_ || *last_ <= object_);
        last_ = place;
        if (!is_first_after) return {};
        return located(sink_.state(sched::ConfigurationState{draft_.finish(1)}));
    }

    template <class T>
    Result<void> read_state(std::string_view key, const Json& line) {
        T one{};
        JsonIn in(line.begin().value(), std::string(key), r_);
        fields(in, one);
        in.close();
        if constexpr (std::is_same_v<T, sched::ResourceRecord>) define(one);
        if (!r_.problem.empty()) return {};
        return located(sink_.state(one));
    }
    void define(const sched::ResourceRecord& resource) {
        if (resource.id >= kMostResources)
            r_.fail("resource", "id", fmt::format("a number below {}", kMostResources));
        r_.resources.try_emplace(std::string(resource.name), resource.id);
    }

    // Reads an object of the configuration. nullopt: it has a mistake, which fail() has reported.
    std::optional<objects::Object> read_object(JsonIn& in, objects::ObjectType type) {
        std::string name;
        in("name", name, "");
        const Json* const attributes = in.find("attributes");
        if (attributes == nullptr || !attributes->is_object()) {
            in.fail("attributes", "an object {...}");
            return std::nullopt;
        }
        auto object = objects::from_json(type, name, attributes->dump());
        if (!object) in.fail("attributes", fmt::format("values as in qmgr: {}", object.error().message));
        return object ? *std::move(object) : std::nullopt;
    }

    Result<void> read_cycle(std::string_view key, const Json& line) {
        JsonIn in(line.begin().value(), std::string(key), r_);
        fields(in, record_.cycle);
        in.close();
        return {};
    }

    Result<void> read_decided(std::string_view key, const Json& line) {
        if (!line.begin().value().is_object())
            return fail(fmt::format("{}: expected an object {{...}}", key));
        record_.decided.push_back(decided_line(line, line_));
        return {};
    }

    Result<void> read_configured(std::string_view key, const Json& line) {
        JsonIn in(line.begin().value(), std::string(key), r_);
        std::string type;
        in("type", type, "");
        const auto* const found = std::ranges::find(objects::kConfiguredTypes, type, objects::type_name);
        if (found == objects::kConfiguredTypes.end())
            return fail(fmt::format("object: type: expected {}",
                                    values::type_list(&values::ObjectTypeRow::configured)));
        if (auto object = read_object(in, *found)) draft_.put(*std::move(object));
        in.close();
        return {};
    }

    Result<void> read_sched_config(std::string_view key, const Json& line) {
        sched::SchedConfigState state;
        JsonIn in(line.begin().value(), std::string(key), r_);
        in("sched", state.sched, "");
        for (const auto& [slot, kept] :
             {std::pair("all_time", &state.all_time), std::pair("prime", &state.prime),
              std::pair("non_prime", &state.non_prime)}) {
            const Json* const part = in.find(slot);
            if (part == nullptr) continue;
            JsonIn of_slot(*part, fmt::format("sched_config: {}", slot), r_);
            if (auto object = read_object(of_slot, objects::ObjectType::policy))
                *kept = std::make_shared<const objects::Object>(*std::move(object));
            of_slot.close();
        }
        in.close();
        if (!r_.problem.empty()) return {};
        return located(sink_.state(state));
    }

    std::string name_;
    RecordSink& sink_;
    std::size_t line_ = 0;
    bool begun_ = false;
    const std::size_t object_ = place_of("object");
    const std::size_t cycle_ = place_of("cycle");
    std::optional<std::size_t> last_;  // the place of the last line
    Reading r_;
    objects::Draft draft_{std::make_shared<const objects::Snapshot>()};
    ReadRecord record_;
};

}  // namespace

Result<ReadRecord> read_record(std::string_view text, std::string_view name, RecordSink& sink) {
    return Reader(name, sink).read(text);
}

std::vector<DecidedLine> decided_lines(std::string_view text) {
    std::vector<DecidedLine> lines;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const Json line = text::parse_json(values::take_line(text));
        if (line.is_object() && line.size() == 1 && line.begin().value().is_object())
            lines.push_back(decided_line(line, number));
    }
    return lines;
}

}  // namespace pbs::record

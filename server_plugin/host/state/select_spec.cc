#include "server_plugin/host/state/select_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "ifl/pbs_error.h"
#include "server_plugin/host/state/values.h"
#include "values/amount.h"
#include "values/number.h"
#include "values/text.h"

namespace pbs::host {
namespace {

constexpr int64_t kMostChunks = 1'000'000;

Result<int64_t> chunk_count(std::string_view text) {
    const auto count = values::number<int64_t>(text);
    if (count && *count >= 1 && *count <= kMostChunks) return *count;
    return fail(PBSE_BADATVAL,
                fmt::format("Illegal chunk count \"{}\": expected 1 to {}", text, kMostChunks));
}

bool begins_with_digit(std::string_view text) {
    return !text.empty() && values::is_digit(text.front());
}

Result<void> add_resource(Chunk& chunk, std::string_view text, const ResourceTable& resources) {
    const auto equals = text.find('=');
    const std::string_view name = values::trim(text.substr(0, equals));
    if (equals == std::string_view::npos || name.empty())
        return fail(PBSE_BADATVAL, fmt::format("Illegal chunk part \"{}\": expected resource=value", text));
    const Resource* resource = resources.find(name);
    if (resource == nullptr) return fail(PBSE_UNKRESC, fmt::format("Unknown resource: {}", name));
    if ((resource->flags & resource_host) == 0)
        return fail(PBSE_INVALSELECTRESC,
                    fmt::format("Resource invalid in \"select\" specification: {}", name));
    if (!chunk.value(resource->name).empty())
        return fail(
            PBSE_DUPRESC,
            fmt::format("duplicated resource within a section of a select specification, resource is: {}",
                        name));
    std::string_view raw = values::trim(text.substr(equals + 1));
    if (raw.size() >= 2 && (raw.front() == '"' || raw.front() == '\'') && raw.back() == raw.front())
        raw = raw.substr(1, raw.size() - 2);
    auto value = canonical(resource->type, raw);
    if (!value) return tl::unexpected(value.error());
    if (value->empty())
        return fail(PBSE_BADATVAL, fmt::format("Illegal chunk part \"{}\": expected a value", text));
    if (auto ok = check_request(*resource, *value); !ok) return ok;
    chunk.resources.emplace_back(resource->name, std::move(*value));
    return {};
}

struct Sum {
    int64_t amount = 0;
    int shift = 50;  // of the smallest unit of the summed sizes
};
// Sums the consumable resources over all chunks, by resource name.
std::map<std::string, Sum> sums(const std::vector<Chunk>& chunks, const ResourceTable& resources) {
    std::map<std::string, Sum> total;
    for (const Chunk& chunk : chunks)
        for (const auto& [name, value] : chunk.resources) {
            const Resource* resource = resources.find(name);
            if (resource == nullptr || (resource->flags & resource_queue_sum) == 0) continue;
            Sum& sum = total[name];
            sum.amount =
                amount_sum(sum.amount, amount_product(chunk.count, amount_of(resource->type, value)));
            if (const auto size = values::parse_size(value))
                sum.shift = std::min(sum.shift, size->words ? 0 : size->shift);
        }
    return total;
}
// Writes a sum. Sizes get the smallest unit that was summed: 1gb and 512mb are 1536mb.
std::string sum_text(Type type, const Sum& sum) {
    const bool exact = sum.amount % (int64_t{1} << sum.shift) == 0;
    if (type != Type::size || !exact) return amount_text(type, sum.amount);
    return values::WrittenSize{static_cast<std::uint64_t>(sum.amount) >> sum.shift, sum.shift}.text();
}

const AttributeDef& resource_list() {
    static const AttributeDef& def = *job_table().find("Resource_List");
    return def;
}

void set_default(Job& job, std::string_view resource, std::string_view value) {
    job.attributes.set(resource_list(), resource, value);
    job.set_defaulted(resource, true);
}

void drop_defaults(Job& job) {
    for (const std::string& resource : split_list(job.defaulted.text()))
        job.attributes.unset(resource_list(), resource);
    job.defaulted = {};
}

// Sets defaults for job-wide resources. If the job has its own select or nodes, omits select, place, nodes
// and host-level resources.
void add_job_wide_defaults(Job& job, const Queue& queue, const State& state, bool has_chunks) {
    struct Source {
        const Attributes& attributes;
        std::string_view name;
    };
    const std::array sources = {
        Source{queue.attributes, "resources_default"}, Source{state.server, "resources_default"},
        Source{queue.attributes, "resources_max"}, Source{state.server, "resources_max"}};
    for (const Source& source : sources) {
        for (const AttributeValue& value : source.attributes.all_of(source.name)) {
            const Resource* resource = state.resources.find(value.resource());
            if (resource == nullptr || resource->name == "nodect") continue;
            const bool chunks =
                resource->name == "select" || resource->name == "place" || resource->name == "nodes";
            // resources_max of select, place or nodes bounds the job's text, so don't use it as a default.
            if (chunks && source.name == "resources_max") continue;
            if (has_chunks && (chunks || (resource->flags & resource_host) != 0)) continue;
            if (!job.attributes.has("Resource_List", value.resource()))
                set_default(job, value.resource(), value.value());
        }
    }
}

void add_chunk_defaults(std::vector<Chunk>& chunks, const Queue& queue, const State& state) {
    for (Chunk& chunk : chunks) {
        for (const Attributes* source : {&queue.attributes, &state.server})
            for (const AttributeValue& value : source->all_of("default_chunk"))
                if (chunk.value(value.resource()).empty())
                    chunk.resources.emplace_back(value.resource(), value.value());
        if (chunk.value("ncpus").empty()) chunk.resources.emplace_back("ncpus", "1");
    }
}

// `had_select`: the job has a select that was made from its other requests, so that it may get a place later.
Result<void> check_mixture(const Job& job, const State& state, bool has_select, bool has_nodes,
                           bool had_select) {
    const bool has_place = job.attributes.has("Resource_List", "place");
    if (has_place && !has_select && !has_nodes && !had_select)
        return fail(PBSE_PLACENOSELECT, "Cannot have \"place\" without \"select\"");
    if (has_select && has_nodes)
        return fail(PBSE_INVALNODEPLACE, "Cannot be used with select or place: nodes");
    if (!has_select) return {};
    for (const AttributeValue& value : job.attributes.all_of("Resource_List")) {
        const Resource* resource = state.resources.find(value.resource());
        if (resource != nullptr && (resource->flags & resource_host) != 0)
            return fail(
                PBSE_INVALJOBRESC,
                fmt::format("\"-lresource=\" cannot be used with \"select\" or \"place\", resource is: {}",
                            value.resource()));
    }
    return {};
}

// Bounds the number of processes, because each gets a line of the node file, which is made in memory.
Result<void> check_processes(const std::vector<Chunk>& chunks) {
    int64_t total = 0;
    for (const Chunk& chunk : chunks)
        total = amount_sum(total, amount_product(chunk.count, chunk.processes()));
    if (total <= kMostProcesses) return {};
    return fail(
        PBSE_BADATVAL,
        fmt::format("Illegal value: the chunks have {} processes (chunk count times mpiprocs) in all, "
                    "expected at most {}",
                    total, kMostProcesses));
}

// Gives each chunk of a `nodes` request its processes, `ppn` in number. Each process has the CPUs that the
// chunk requests, or else one CPU.
Result<void> add_processes(Chunk& chunk, const std::optional<std::string>& ppn,
                           const ResourceTable& resources) {
    if (!ppn) return {};
    if (auto added = add_resource(chunk, "mpiprocs=" + *ppn, resources); !added) return added;
    if (chunk.processes() == 0) return fail(PBSE_BADATVAL, "expected a ppn of 1 or more");
    const int64_t cpus = amount_product(chunk.cpus(), chunk.processes());
    std::erase_if(chunk.resources, [](const auto& resource) { return resource.first == "ncpus"; });
    chunk.resources.emplace(chunk.resources.begin(), "ncpus", std::to_string(cpus));
    return {};
}

// Checks a `place`: "arrangement:sharing:group=resource", in which each part may be missing.
Result<void> check_place(std::string_view place, const ResourceTable& resources) {
    constexpr std::array<std::string_view, 4> kArrangements{"free", "pack", "scatter", "vscatter"};
    constexpr std::array<std::string_view, 3> kSharings{"excl", "exclhost", "shared"};
    constexpr std::string_view kGroup = "group=";
    std::array<bool, 3> seen{};
    for (std::string_view word : values::split(place, ':')) {
        const bool groups = word.starts_with(kGroup) && word.size() > kGroup.size();
        const bool shares = std::ranges::find(kSharings, word) != kSharings.end();
        const bool arranges = std::ranges::find(kArrangements, word) != kArrangements.end();
        bool& again = seen[groups ? 2 : shares ? 1 : 0];
        if (!(groups || shares || arranges) || std::exchange(again, true))
            return fail(PBSE_BADATVAL,
                        fmt::format("Illegal attribute or resource value Resource_List.place: {}: expected "
                                    "free, pack, scatter or vscatter; excl, exclhost or shared; and "
                                    "group=RESOURCE, each at most once",
                                    place));
        if (groups && resources.find(word.substr(kGroup.size())) == nullptr)
            return fail(PBSE_UNKRESC, fmt::format("Unknown resource Resource_List.place: {}", place));
    }
    return {};
}

constexpr std::string_view kExclusive = "#excl";
constexpr std::string_view kShared = "#shared";

// Removes the sharing from the end of a `nodes` request.
std::string_view without_sharing(std::string_view nodes) {
    for (const std::string_view sharing : {kExclusive, kShared})
        if (nodes.ends_with(sharing)) nodes.remove_suffix(sharing.size());
    return nodes;
}
std::string_view place_of_nodes(std::string_view nodes) {
    return nodes.ends_with(kExclusive) ? "scatter:excl" : nodes.ends_with(kShared) ? "free" : "scatter";
}

// Makes the single chunk of a job that has only job-wide requests.
std::vector<Chunk> chunk_of_whole(const Job& job, const State& state) {
    Chunk chunk;
    for (const AttributeValue& value : job.attributes.all_of("Resource_List")) {
        const Resource* resource = state.resources.find(value.resource());
        if (resource != nullptr && (resource->flags & resource_host) != 0)
            chunk.resources.emplace_back(value.resource(), value.value());
    }
    return {chunk};
}

}  // namespace

std::string_view Chunk::value(std::string_view resource) const {
    for (const auto& [name, text] : resources)
        if (name == resource) return text;
    return {};
}

int64_t Chunk::processes() const {
    const std::string_view mpiprocs = value("mpiprocs");
    return mpiprocs.empty() ? std::min<int64_t>(cpus(), 1) : amount_of(Type::integer, mpiprocs);
}

int64_t Chunk::threads() const {
    if (processes() == 0) return 0;
    const std::string_view ompthreads = value("ompthreads");
    return ompthreads.empty() ? cpus() : amount_of(Type::integer, ompthreads);
}

int64_t Chunk::cpus() const {
    const std::string_view ncpus = value("ncpus");
    return ncpus.empty() ? 1 : amount_of(Type::integer, ncpus);
}

Result<std::vector<Chunk>> parse_select(std::string_view text, const ResourceTable& resources) {
    std::vector<Chunk> chunks;
    for (std::string_view part : values::split(text, '+')) {
        Chunk chunk;
        auto fields = values::split(values::trim(part), ':');
        size_t first = 0;
        if (begins_with_digit(fields.front())) {
            auto count = chunk_count(fields.front());
            if (!count) return tl::unexpected(count.error());
            chunk.count = *count;
            first = 1;
        }
        for (size_t i = first; i < fields.size(); ++i)
            if (auto added = add_resource(chunk, fields[i], resources); !added)
                return tl::unexpected(added.error());
        chunks.push_back(std::move(chunk));
    }
    return chunks;
}

Result<std::vector<Chunk>> parse_nodes(std::string_view text, const State& state) {
    std::vector<Chunk> chunks;
    text = without_sharing(text);
    for (std::string_view part : values::split(text, '+')) {
        Chunk chunk;
        std::optional<std::string> ppn;
        const auto fields = values::split(values::trim(part), ':');
        for (size_t i = 0; i < fields.size(); ++i) {
            std::string field(fields[i]);
            if (i == 0 && begins_with_digit(field)) {
                auto count = chunk_count(field);
                if (!count) return fail(PBSE_BADNODESPEC, count.error().message);
                chunk.count = *count;
                continue;
            }
            if (field.starts_with("ppn=") && !ppn) {
                ppn = field.substr(4);
                continue;
            }
            if (field.starts_with("cpp=")) field = "ncpus=" + field.substr(4);
            if (field.find('=') == std::string::npos && state.node(field) != nullptr)
                field = "vnode=" + field;
            if (auto added = add_resource(chunk, field, state.resources); !added)
                return fail(PBSE_BADNODESPEC,
                            fmt::format("node(s) specification error: {}", added.error().message));
        }
        if (auto added = add_processes(chunk, ppn, state.resources); !added)
            return fail(PBSE_BADNODESPEC,
                        fmt::format("node(s) specification error: {}", added.error().message));
        if (chunk.value("ncpus").empty()) chunk.resources.emplace(chunk.resources.begin(), "ncpus", "1");
        chunks.push_back(std::move(chunk));
    }
    return chunks;
}

std::string select_text(const std::vector<Chunk>& chunks) {
    std::string out;
    for (const Chunk& chunk : chunks) {
        out += fmt::format("{}{}", out.empty() ? "" : "+", chunk.count);
        for (const auto& [name, value] : chunk.resources) out += fmt::format(":{}={}", name, value);
    }
    return out;
}

Result<void> complete_resources(Job& job, const Queue& queue, const State& state) {
    const bool had_select = job.is_defaulted("select");
    drop_defaults(job);
    const bool has_select = job.attributes.has("Resource_List", "select");
    const bool has_nodes = job.attributes.has("Resource_List", "nodes");
    if (auto ok = check_mixture(job, state, has_select, has_nodes, had_select); !ok) return ok;
    add_job_wide_defaults(job, queue, state, has_select || has_nodes);

    std::vector<Chunk> chunks;
    if (has_select || has_nodes) {
        auto parsed = has_select
                          ? parse_select(job.attributes.text("Resource_List", "select"), state.resources)
                          : parse_nodes(job.attributes.text("Resource_List", "nodes"), state);
        if (!parsed) return tl::unexpected(parsed.error());
        chunks = std::move(*parsed);
    } else {
        chunks = chunk_of_whole(job, state);
    }
    if (!has_select) set_default(job, "select", select_text(chunks));
    if (job.attributes.has("Resource_List", "place")) {
        auto ok = check_place(job.attributes.text("Resource_List", "place"), state.resources);
        if (!ok) return ok;
    } else {
        set_default(job, "place",
                    has_nodes    ? place_of_nodes(job.attributes.text("Resource_List", "nodes"))
                    : has_select ? "free"
                                 : "pack");
    }
    add_chunk_defaults(chunks, queue, state);

    if (auto ok = check_processes(chunks); !ok) return ok;
    int64_t count = 0;
    for (const Chunk& chunk : chunks) count = amount_sum(count, chunk.count);
    set_default(job, "nodect", fmt::format("{}", count));
    for (const auto& [name, total] : sums(chunks, state.resources)) {
        const Resource* resource = state.resources.find(name);
        if (has_select || has_nodes || !job.attributes.has("Resource_List", name))
            set_default(job, name, sum_text(resource->type, total));
    }
    static const AttributeDef& schedselect = *job_table().find("schedselect");
    job.attributes.set(schedselect, {}, select_text(chunks));
    return {};
}

std::vector<Chunk> chunks_of(const Job& job, const State& state) {
    return parse_select(job.attributes.text("schedselect"), state.resources).value_or(std::vector<Chunk>{});
}

}  // namespace pbs::host

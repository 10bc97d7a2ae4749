#include "server_plugin/scheduler/model/request.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "server_plugin/scheduler/model/sort_unique.h"
#include "values/abridged.h"

namespace pbs::sched {
namespace {

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
    hash = (hash ^ value) * 0x9E3779B97F4A7C15ULL;
    return hash ^ hash >> 29;
}

template <class OfAmount>
std::uint64_t mixed(std::uint64_t hash, const OfAmount& amount) {
    hash = mixed(mixed(hash, std::uint64_t{amount.resource}), static_cast<std::uint64_t>(amount.number));
    return amount.text.empty() ? hash : mixed(hash, std::hash<std::string_view>{}(amount.text));
}

// Returns whether the resource only says how a chunk is used, and not what it needs.
bool is_about_processes(std::string_view resource) {
    return resource == "mpiprocs" || resource == "ompthreads";
}

void add(Chunk& chunk, KeptAmount amount, const Resources& resources) {
    if (is_about_processes(resources.name(amount.resource))) return;
    if (resources.consumable(amount.resource))
        chunk.needs.push_back({amount.resource, amount.number});
    else
        chunk.matches.push_back(std::move(amount));
}

// Reads one "[N:]resource=value[:resource=value...]" of a select. Returns false if the text is malformed.
bool parse_chunk(std::string_view text, const Resources& resources, Chunk& chunk) {
    bool first = true;
    while (!text.empty()) {
        const auto colon = std::min(text.find(':'), text.size());
        // The colons in a duration belong to its value: no '=' follows them.
        auto end = colon;
        while (end < text.size()) {
            const auto next = std::min(text.find(':', end + 1), text.size());
            const auto piece = text.substr(end + 1, next - end - 1);
            if (first || piece.find('=') != std::string_view::npos) break;
            end = next;
        }
        const auto part = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const auto equals = part.find('=');
        if (equals == std::string_view::npos) {
            const auto count = values::number_of_chunks(part);
            if (!first || !count) return false;
            chunk.count = *count;
        } else {
            const auto id = resources.id(part.substr(0, equals));
            auto amount = resources.parse(id, part.substr(equals + 1));
            if (!amount) return false;
            add(chunk, std::move(*amount), resources);
        }
        first = false;
    }
    return !first;
}

bool parse_select(std::string_view text, const Resources& resources, std::vector<Chunk>& chunks) {
    while (true) {
        const auto plus = std::min(text.find('+'), text.size());
        Chunk chunk;
        if (!parse_chunk(text.substr(0, plus), resources, chunk)) return false;
        chunks.push_back(std::move(chunk));
        if (plus == text.size()) return true;
        text.remove_prefix(plus + 1);
    }
}

// Reads "arrangement[:sharing][:group=resource]".
bool parse_place(std::string_view text, const Resources& resources, Request& request) {
    constexpr std::string_view kGroup = "group=";
    while (!text.empty()) {
        const auto colon = std::min(text.find(':'), text.size());
        const auto word = text.substr(0, colon);
        if (const auto arrangement = arrangement_of(word))
            request.arrangement = *arrangement;
        else if (word == "excl")
            request.sharing = AskedSharing::excl;
        else if (word == "exclhost")
            request.sharing = AskedSharing::exclhost;
        else if (word.starts_with(kGroup) && resources.id(word.substr(kGroup.size())) != kNoResource)
            request.group = resources.id(word.substr(kGroup.size()));
        else if (word == "shared")
            request.sharing = AskedSharing::shared;
        else
            return false;
        text.remove_prefix(std::min(colon + 1, text.size()));
    }
    return true;
}

// Returns the amounts for the whole job: the job-wide requests and, for other resources, the sums over its
// chunks.
std::vector<KeptAmount> totals_of(const Request& request) {
    std::vector<KeptAmount> totals;
    for (const KeptAmount& a : request.amounts)
        if (a.text.empty()) totals.push_back(a);
    const auto asked = totals.size();
    for (const Chunk& chunk : request.chunks) {
        for (const Need& need : chunk.needs) {
            const auto found = std::ranges::find(totals, need.resource, &KeptAmount::resource);
            if (found == totals.end())
                totals.push_back({need.resource, need.amount * chunk.count, {}});
            else if (static_cast<std::size_t>(found - totals.begin()) >= asked)
                found->number += need.amount * chunk.count;
        }
    }
    return totals;
}

// Returns whether an amount belongs to the one chunk of a job without select=.
bool belongs_to_chunk(const KeptAmount& a, const Resources& resources) {
    const auto& known = resources.known();
    if (resources.consumable(a.resource) || a.resource == known.host || a.resource == known.vnode)
        return true;
    const auto* info = resources.find(a.resource);
    return info != nullptr && (info->kind == ResourceKind::boolean || resources.is_text(a.resource)) &&
           info->name != "nodes" && info->name != "nodect";
}

// Returns whether the amounts can be added without overflow: none is negative, and their sum is at most 2^60.
bool sane(const Request& request) {
    constexpr std::int64_t kMost = std::int64_t{1} << 60;
    std::int64_t left = kMost;
    for (const Chunk& chunk : request.chunks) {
        for (const Need& need : chunk.needs) {
            if (need.amount < 0 || need.amount > left / chunk.count) return false;
            left -= need.amount * chunk.count;
        }
    }
    return std::ranges::all_of(request.amounts, [](const KeptAmount& a) { return a.number < kMost; });
}

bool is_some(const KeptAmount& amount) {
    return amount.number != 0 || !amount.text.empty();
}

const std::string* text_of(std::span<const KeptAmount> amounts, std::uint32_t resource) {
    const auto found = std::ranges::find(amounts, resource, &KeptAmount::resource);
    return found == amounts.end() || found->text.empty() ? nullptr : &found->text;
}

// Returns a user's text as the job's comment shows it: the comment has to stay short.
std::string shown(std::string_view text) {
    constexpr std::size_t kMost = 200;
    return values::abridged(text, kMost);
}

std::string no_way(std::string_view what, std::string_view expected = {}) {
    return fmt::format("{} can't be scheduled here{}{}", what, expected.empty() ? "" : ": expected ",
                       expected);
}

bool is_about_spreading(const KeptAmount& a, const Resources& resources) {
    const auto& known = resources.known();
    return a.resource == known.chunk_order || a.resource == known.per_host || a.resource == known.prefer;
}

// Reads chunk_order, per_host and prefer. A request for one chunk can't be spread: chunk_order and per_host
// don't concern it, so that they may be a site's defaults. (A job without select also has place=pack.)
void read_spreading(Request& request, const Resources& resources) {
    const auto& known = resources.known();
    const std::string* const asked_range = text_of(request.amounts, known.select_range);
    const std::string range = asked_range != nullptr ? *asked_range : "";
    const bool anywhere = request.arrangement == Arrangement::free;
    const bool is_one = request.range.empty() && request.chunks.size() == 1 && request.chunks[0].count == 1;
    const auto refuse = [&](std::string_view what, std::string_view expected = {}) {
        request.unspread = no_way(what, expected);
    };
    const char* const elsewhere = anywhere || is_one ? "" : " with another place than free";
    for (const KeptAmount& a : request.amounts) {
        if (a.resource == known.chunk_order && !a.text.empty()) {
            const auto order = chunk_order_of(a.text);
            request.order = order.value_or(ChunkOrder::fill);
            if (!order)
                refuse(fmt::format("chunk_order={}", shown(a.text)), "fill or round_robin");
            else if (order == ChunkOrder::round_robin && *elsewhere != '\0')
                refuse(fmt::format("chunk_order={}{}", shown(a.text), elsewhere));
        } else if (a.resource == known.per_host) {
            const std::int64_t count = request.chunks.front().count;
            if (!is_one) request.per_host = a.number;
            if (a.number < 1)
                refuse(fmt::format("per_host={}", a.number), "1 or more");
            else if (is_one)
                continue;
            else if (!anywhere || request.chunks.size() > 1)
                refuse(fmt::format("per_host={}{}", a.number,
                                   !anywhere ? elsewhere : " with several kinds of chunks"));
            else if (request.range.empty() ? count % a.number != 0 : !request.range.keep_multiples(a.number))
                refuse(fmt::format("{} chunks, {} on each host,",
                                   range.empty() ? std::to_string(count) : shown(range), a.number));
        } else if (a.resource == known.prefer && !a.text.empty()) {
            auto preferences = parse_preferences(a.text, resources);
            if (preferences)
                request.preferences = std::move(*preferences);
            else
                refuse(fmt::format("prefer={}", shown(a.text)), kPreferencesForm);
        }
    }
}

void compile(Request& request, const Resources& resources) {
    const auto& known = resources.known();
    request.range = {};
    request.chunks.clear();
    request.unsupported.clear();
    request.unspread.clear();
    request.arrangement = Arrangement::free;
    request.sharing = AskedSharing::unsaid;
    request.group = kNoResource;
    request.order = ChunkOrder::by_policy;
    request.per_host = 0;
    request.preferences.clear();
    Chunk whole;
    const auto refuse = [&](std::string_view name, std::string_view value, std::string_view expected = {}) {
        request.unsupported = no_way(fmt::format("{}={}", name, shown(value)), expected);
    };
    for (const KeptAmount& a : request.amounts) {
        if (a.resource == known.select && !a.text.empty()) {
            if (!parse_select(a.text, resources, request.chunks)) refuse("select", a.text);
        } else if (a.resource == known.select_range && !a.text.empty()) {
            const auto range = ChunkRange::parse(a.text);
            if (range && text_of(request.amounts, known.select) != nullptr)
                request.range = *range;
            else
                refuse("select_range", a.text, range ? "a select too" : values::kChunkNumbersForm);
        } else if (a.resource == known.place) {
            if (!parse_place(a.text, resources, request)) refuse("place", a.text);
        } else if (is_about_spreading(a, resources)) {
            // left to read_spreading(), which also needs the chunks and the place
        } else if (belongs_to_chunk(a, resources)) {
            add(whole, a, resources);
        }
    }
    if (request.chunks.empty()) request.chunks.push_back(std::move(whole));
    if (request.unsupported.empty()) read_spreading(request, resources);
    if (!sane(request)) {
        request.unsupported = no_way("amounts that are negative or too large");
        request.chunks.assign(1, Chunk{});
    }
    request.totals = totals_of(request);
    request.ncpus = number_of(request.totals, known.ncpus).value_or(-1);
    request.mem = number_of(request.totals, known.mem).value_or(-1);
    request.ssinodes = number_of(request.totals, known.ssinodes).value_or(-1);
}

Request without(const Request& request, const std::vector<std::uint32_t>& resources) {
    Request rest = request;
    const auto left_aside = [&](std::uint32_t resource) {
        return std::ranges::binary_search(resources, resource);
    };
    for (Chunk& chunk : rest.chunks) {
        std::erase_if(chunk.needs, [&](const Need& need) { return left_aside(need.resource); });
        std::erase_if(chunk.matches, [&](const KeptAmount& match) { return left_aside(match.resource); });
    }
    return rest;
}

}  // namespace

std::uint32_t Requests::acquire(std::span<const Amount> amounts, const Resources& resources) {
    asked_.clear();
    for (const Amount& a : amounts)
        if (a.resource != resources.known().walltime) asked_.push_back(&a);
    std::ranges::sort(asked_, {}, &Amount::resource);
    std::uint64_t hash = 0;
    for (const Amount* a : asked_) hash = mixed(hash, *a);
    const auto is_asked = [](const KeptAmount& kept, const Amount* asked) {
        return kept.resource == asked->resource && kept.number == asked->number && kept.text == asked->text;
    };
    const auto [begin, end] = index_.equal_range(hash);
    for (auto found = begin; found != end; ++found) {
        Request& request = requests_[found->second];
        if (!std::ranges::equal(request.amounts, asked_, is_asked)) continue;
        if (++request.users == 1) count(request, 1);
        return found->second;
    }
    std::uint32_t id = static_cast<std::uint32_t>(requests_.size());
    if (unused_.empty()) {
        requests_.emplace_back();
    } else {
        id = unused_.back();
        unused_.pop_back();
        requests_[id] = {};
    }
    for (const Amount* a : asked_)
        requests_[id].amounts.push_back({a->resource, a->number, std::string(a->text)});
    requests_[id].users = 1;
    requests_[id].serial = ++made_;
    compile(requests_[id], resources);
    count(requests_[id], 1);
    for (Without& set : without_) {
        set.requests.resize(requests_.size());
        set.requests[id] = without(requests_[id], set.resources);
    }
    index_.emplace(hash, id);
    return id;
}

std::uint32_t Requests::acquire_with_chunks(std::uint32_t id, std::int64_t count,
                                            const Resources& resources) {
    std::vector<Amount> amounts;
    for (const KeptAmount& a : requests_[id].amounts) amounts.push_back({a.resource, a.number, a.text});
    const auto own = with_chunks(amounts, count, false, resources);
    return acquire(own ? std::span<const Amount>(own->amounts) : amounts, resources);
}

void Requests::release(std::uint32_t id) {
    if (--requests_[id].users > 0) return;
    count(requests_[id], -1);
    if (requests_[id].kept == 0) forget(id);
}

void Requests::drop(std::uint32_t id) {
    if (--requests_[id].kept == 0 && requests_[id].users == 0) forget(id);
}

void Requests::forget(std::uint32_t id) {
    std::uint64_t hash = 0;
    for (const KeptAmount& a : requests_[id].amounts) hash = mixed(hash, a);
    const auto [begin, end] = index_.equal_range(hash);
    index_.erase(std::find_if(begin, end, [&](const auto& entry) { return entry.second == id; }));
    requests_[id] = {};
    for (Without& set : without_) set.requests[id] = {};
    unused_.push_back(id);
}

void Requests::recompile(const Resources& resources) {
    asked_by_.clear();
    want_hosts_ = 0;
    for (Request& request : requests_) {
        if (request.users + request.kept == 0) continue;
        compile(request, resources);
        if (request.users > 0) count(request, 1);
    }
    // After a definition, names may mean other resources: drop the copies of requests that omit excluded
    // resources.
    without_.clear();
    seen_ = nullptr;
}

void Requests::count(const Request& request, int sign) {
    const auto add = [&](const KeptAmount& amount) {
        if (amount.resource >= asked_by_.size()) asked_by_.resize(amount.resource + 1);
        asked_by_[amount.resource] += static_cast<std::uint32_t>(sign);
    };
    std::ranges::for_each(request.amounts, add);
    std::ranges::for_each(request.totals, add);
    if (request.sharing == AskedSharing::exclhost) want_hosts_ += static_cast<std::uint32_t>(sign);
}

void Requests::see_without(std::span<const std::string> names, const Resources& resources) {
    seen_ = nullptr;
    std::vector<std::uint32_t> wanted;
    const auto& known = resources.known();
    for (const std::string& name : names)
        if (const auto id = resources.id(name); id != kNoResource && id != known.host && id != known.vnode)
            wanted.push_back(id);
    if (wanted.empty()) return;
    sort_unique(wanted);
    auto found = std::ranges::find(without_, wanted, &Without::resources);
    if (found == without_.end()) {
        if (without_.size() >= kMostSets) without_.pop_back();
        Without& set = without_.emplace_front();
        set.resources = std::move(wanted);
        for (const Request& request : requests_) set.requests.push_back(without(request, set.resources));
    } else {
        without_.splice(without_.begin(), without_, found);
    }
    seen_ = &without_.front().requests;
}

std::optional<Chunk> first_chunk(std::string_view select, const Resources& resources) {
    Chunk chunk;
    if (!parse_chunk(select.substr(0, select.find('+')), resources, chunk)) return std::nullopt;
    return chunk;
}

bool asks_for(const Request& request, std::uint32_t resource) {
    const auto is_it = [&](const KeptAmount& amount) {
        return amount.resource == resource && is_some(amount);
    };
    return std::ranges::any_of(request.amounts, is_it) || std::ranges::any_of(request.totals, is_it) ||
           std::ranges::any_of(request.chunks,
                               [&](const Chunk& chunk) { return std::ranges::any_of(chunk.matches, is_it); });
}

std::uint32_t is_reserved(std::span<const KeptAmount> available, std::span<const std::uint32_t> resources,
                          const Request& request) {
    for (const std::uint32_t resource : resources) {
        const auto has = std::ranges::find(available, resource, &KeptAmount::resource);
        if (has != available.end() && is_some(*has) && !asks_for(request, resource)) return resource;
    }
    return kNoResource;
}

std::vector<std::uint32_t> not_asked_for(std::span<const std::uint32_t> resources, const Request& request) {
    std::vector<std::uint32_t> rest;
    for (const std::uint32_t resource : resources)
        if (!asks_for(request, resource)) rest.push_back(resource);
    return rest;
}

bool has_some(std::span<const KeptAmount> available, std::span<const std::uint32_t> resources) {
    return std::ranges::any_of(available, [&](const KeptAmount& amount) {
        return is_some(amount) && std::ranges::find(resources, amount.resource) != resources.end();
    });
}

bool Requests::is_excluded(std::uint32_t resource) const {
    return seen_ != nullptr && std::ranges::binary_search(without_.front().resources, resource);
}

}  // namespace pbs::sched

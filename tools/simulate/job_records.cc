#include "tools/simulate/job_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace pbs::simulate {

using sched::Amount;

namespace {

// The most chunks that a moldable job on one vnode is divided into: the default of max_range_chunks.
constexpr std::int64_t kMostChunks = 1000;

std::int64_t divide_up(std::int64_t number, std::int64_t by) {
    return (number + by - 1) / by;
}

}  // namespace

Amount Requests::text_amount(std::string_view resource, std::string text) {
    texts_.push_back(std::make_unique<std::string>(std::move(text)));
    return {*cluster_.resource(resource), 0, *texts_.back()};
}

// Makes the request of a job of which the trace has only CPUs and memory. A job larger than a vnode requests
// whole vnodes and a rest, as its user would do. A moldable job requests a range of these vnodes or, if one
// vnode is enough, a range of CPUs on one.
std::vector<Amount> Requests::amounts_of(const TraceJob& job) {
    const std::int64_t mem = cluster_.has_memory() ? job.mem : -1;
    std::vector<Amount> amounts = {{*cluster_.resource("ncpus"), job.cpus, {}}};
    if (mem >= 0) amounts.push_back({*cluster_.resource("mem"), mem, {}});
    const std::int64_t whole = cluster_.cpus_of_a_vnode();
    const bool on_one = whole <= 0 || job.cpus <= whole;
    const std::int64_t size = on_one ? divide_up(job.cpus, kMostChunks) : whole;  // CPUs of a chunk
    const std::int64_t most = job.cpus / size;
    const std::int64_t rest = job.cpus % size;
    const std::int64_t least = std::max<std::int64_t>(1, divide_up(job.least_cpus - rest, size));
    const bool has_range = job.least_cpus > 0 && least < most;
    if (on_one && !has_range) return amounts;
    const auto share = [&](std::int64_t of) {
        return mem < 0 ? std::string()
                       : fmt::format(":mem={}b", static_cast<std::int64_t>(static_cast<double>(mem) *
                                                                           static_cast<double>(of) /
                                                                           static_cast<double>(job.cpus)));
    };
    std::string select = fmt::format("{}:ncpus={}{}", most, size, share(size));
    if (rest != 0) select += fmt::format("+1:ncpus={}{}", rest, share(rest));
    amounts.push_back(text_amount("select", std::move(select)));
    if (has_range) amounts.push_back(text_amount("select_range", fmt::format("{}-{}", least, most)));
    if (on_one) amounts.push_back(text_amount("place", "pack"));
    return amounts;
}

Result<const std::vector<Amount>*> Requests::of(const TraceJob& job) {
    const Key key = job.request == kNoRequest ? Key{job.request, job.cpus, job.mem, job.least_cpus}
                                              : Key{job.request, 0, 0, 0};
    const auto [place, fresh] = made_.try_emplace(key);
    if (!fresh) return &place->second;
    if (job.request == kNoRequest) {
        place->second = amounts_of(job);
        return &place->second;
    }
    for (const auto& [resource, text] : trace_.requests[job.request]) {
        const auto amount = cluster_.amount(resource, text);
        if (!amount)
            return tl::unexpected(
                fmt::format("{}: job {}: Resource_List: {}", trace_.name, job.number, amount.error()));
        place->second.push_back(*amount);
    }
    return &place->second;
}

Result<void> JobRecords::fill(std::uint32_t job, const std::string& origin, sched::QueueHandle queue) {
    const TraceJob& traced = trace_.jobs[job];
    const auto asked = requests_.of(traced);
    if (!asked) return tl::unexpected(asked.error());
    amounts_.assign((*asked)->begin(), (*asked)->end());
    if (traced.walltime >= Seconds(0)) amounts_.push_back({walltime_, traced.walltime.count(), {}});
    static constexpr std::string_view kServer = ".trace";
    char* end = std::to_chars(id_.data(), id_.data() + id_.size(), job + 1).ptr;
    end = std::ranges::copy(kServer, end).out;
    record_ = {};
    record_.job = handle_of(job);
    record_.sequence = std::uint64_t{job} + 1;
    record_.id = {id_.data(), static_cast<std::size_t>(end - id_.data())};
    record_.owner = trace_.users[traced.user];
    record_.group = trace_.groups[traced.group];
    record_.project = trace_.projects[traced.project];
    record_.origin_queue = origin;
    record_.queue = queue;
    record_.rerunnable = true;
    record_.checkpointable = checkpoints_;
    record_.ctime = record_.qtime = record_.etime = record_.mtime = traced.submit;
    record_.walltime = traced.walltime;
    record_.requested = amounts_;
    return {};
}

void SetResources::take(std::span<const Amount> amounts) {
    amounts_.assign(amounts.begin(), amounts.end());
    texts_.clear();
    texts_.reserve(amounts_.size());
    for (Amount& amount : amounts_)
        if (!amount.text.empty()) amount.text = texts_.emplace_back(amount.text);
}

void JobRecords::add_set(const SetResources& set) {
    for (const Amount& amount : set.all()) {
        const auto known = std::ranges::find(amounts_, amount.resource, &Amount::resource);
        if (known != amounts_.end())
            *known = amount;
        else
            amounts_.push_back(amount);
    }
    record_.requested = amounts_;
}

std::int64_t JobRecords::cpus(std::uint32_t job, const SetResources& set) const {
    const auto find = [&](std::uint32_t resource) {
        return std::ranges::find(set.all(), resource, &Amount::resource);
    };
    if (const auto ncpus = find(ncpus_); ncpus != set.all().end()) return ncpus->number;
    if (const auto select = find(select_); select != set.all().end())
        return cpus_of_select(select->text).value_or(trace_.jobs[job].cpus);
    return trace_.jobs[job].cpus;
}

void JobRecords::add_used(std::uint32_t job, Seconds ran, std::int64_t cpus) {
    const TraceJob& traced = trace_.jobs[job];
    double used = static_cast<double>(ran.count()) * static_cast<double>(cpus);
    if (traced.cput >= Seconds(0) && traced.run_time > Seconds(0)) {
        used = static_cast<double>(traced.cput.count()) * static_cast<double>(ran.count()) /
               static_cast<double>(traced.run_time.count());
        if (cpus != traced.cpus && traced.cpus > 0)
            used = used * static_cast<double>(cpus) / static_cast<double>(traced.cpus);
    }
    cput_.number = static_cast<std::int64_t>(used);
    record_.used = std::span(&cput_, 1);
}

}  // namespace pbs::simulate

#include "tests/bench/archive_traces.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <string>

namespace pbs::bench {
namespace {

using simulate::Instant;
using simulate::Seconds;

// The parameters of batch jobs in the model by Lublin and Feitelson. The machine of the model has 128 nodes.
constexpr double kSerial = 0.244;
constexpr double kPowersOfTwo = 0.576;
constexpr double kLeastLog = 0.8;
constexpr double kMiddleBelowLargest = 2.5;
constexpr double kBelowMiddle = 0.86;
constexpr double kModelNodes = 128;

class Jobs {
  public:
    explicit Jobs(const ArchiveLog& log) : log_(log) {}

    std::int64_t size() {
        if (share() < kSerial) return 1;
        const double most = std::log2(static_cast<double>(log_.vnodes));
        const double middle = most - kMiddleBelowLargest;
        const bool small = share() < kBelowMiddle;
        const double from = small ? kLeastLog : middle;
        const double to = small ? middle : most;
        double log = from + (to - from) * share();
        if (log_.only_powers_of_two || share() < kPowersOfTwo) log = std::round(log);
        return std::clamp<std::int64_t>(std::llround(std::exp2(log)), 1, log_.vnodes);
    }

    // The first part of the hyper-gamma distribution has short jobs, the second one long ones.
    Seconds run_time(std::int64_t size) {
        const double of_model = static_cast<double>(size) * kModelNodes /
                                static_cast<double>(std::max<std::int64_t>(128, log_.vnodes));
        const double short_jobs = std::clamp(0.78 - 0.0054 * of_model, 0.05, 0.95);
        const double log = share() < short_jobs ? short_(random_) : long_(random_);
        const double most = static_cast<double>(log_.hours) * 3600;
        return Seconds(std::llround(std::clamp(std::exp(log), 1.0, most)));
    }

    // A job uses any part of its walltime. One of ten reaches the end.
    Seconds walltime(Seconds run_time) {
        constexpr std::int64_t kRound[] = {5,   10,  15,  20,  30,  60,   90,   120,  180,  240,
                                           300, 360, 480, 600, 720, 1080, 1440, 2160, 2880, 3600};
        const double used = std::min(0.03 + 1.1 * share(), 1.0);
        const double minutes = static_cast<double>(run_time.count()) / 60 / used;
        const auto round = std::ranges::lower_bound(kRound, minutes);
        return Seconds(60 * std::min(round == std::end(kRound) ? log_.hours * 60 : *round, log_.hours * 60));
    }

    // The user's number: a few users have most jobs.
    std::int64_t user() {
        return std::min<std::int64_t>(static_cast<std::int64_t>(std::pow(log_.users + 1, share())),
                                      log_.users);
    }

    // The time of the day in half hours; 32 is four in the afternoon.
    double time_of_day() { return std::fmod(time_(random_), 48); }
    double share() { return share_(random_); }

  private:
    const ArchiveLog& log_;
    std::mt19937_64 random_{7};
    std::uniform_real_distribution<double> share_{0, 1};
    std::gamma_distribution<double> short_{4.2, 0.94};
    std::gamma_distribution<double> long_{312, 0.03};
    std::gamma_distribution<double> time_{8.1737, 3.9631};
};

}  // namespace

simulate::Trace make_archive_trace(const ArchiveLog& log, std::int64_t count) {
    Jobs jobs(log);
    simulate::Trace trace;
    trace.name = log.name;
    double work = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        simulate::TraceJob& job = trace.jobs.emplace_back();
        const std::int64_t size = jobs.size();
        const std::int64_t user = jobs.user();
        job.number = static_cast<std::uint64_t>(i) + 1;
        job.cpus = size * log.cpus_of_vnode;
        job.run_time = jobs.run_time(size);
        job.walltime = jobs.walltime(job.run_time);
        job.user = trace.users.number("user" + std::to_string(user));
        job.group = trace.groups.number("group" + std::to_string(user % 10));
        job.queue = trace.queues.number("");
        work += static_cast<double>(job.run_time.count() * job.cpus);
    }
    const double length = work / static_cast<double>(log.vnodes * log.cpus_of_vnode) / log.load;
    const auto days = std::max<std::int64_t>(1, std::llround(length / 86'400));
    std::vector<std::int64_t> arrivals;
    for (std::int64_t i = 0; i < count; ++i) {
        const auto day = static_cast<std::int64_t>(jobs.share() * static_cast<double>(days));
        arrivals.push_back(day * 86'400 + static_cast<std::int64_t>(jobs.time_of_day() * 1800));
    }
    std::ranges::sort(arrivals);
    constexpr std::int64_t kMidnight = 1'795'392'000;  // seconds since the Epoch: Monday, 23 November 2026
    for (std::size_t i = 0; i < arrivals.size(); ++i)
        trace.jobs[i].submit = Instant(Seconds(kMidnight + arrivals[i]));
    return trace;
}

}  // namespace pbs::bench

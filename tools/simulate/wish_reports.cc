#include "tools/simulate/report.h"

#include <utility>

namespace pbs::simulate {

DeadlineReport make_deadline_report(const Schedule& run) {
    DeadlineReport report;
    std::vector<double> late;
    for (const auto& [position, deadline] : run.deadlines) {
        const Outcome& outcome = run.outcomes[position];
        ++report.jobs;
        if (!outcome.started())
            ++report.never;
        else if (outcome.start <= deadline)
            ++report.in_time;
        else
            late.push_back(static_cast<double>((outcome.start - deadline).count()));
    }
    report.late = distribution(std::move(late));
    return report;
}

RangeReport make_range_report(const Schedule& run) {
    RangeReport report;
    for (const auto& [position, chunks] : run.chunks) {
        ++report.jobs;
        if (chunks.had == 0) {
            ++report.never;
            continue;
        }
        if (chunks.had < chunks.asked) ++report.fewer;
        report.chunks_asked += static_cast<double>(chunks.asked);
        report.chunks_had += static_cast<double>(chunks.had);
        report.cpus_asked += static_cast<double>(chunks.cpus_asked);
        report.cpus_had += static_cast<double>(run.outcomes[position].cpus);
    }
    const std::int64_t started = report.jobs - report.never;
    if (started == 0) return report;
    for (double* const sum : {&report.chunks_asked, &report.chunks_had, &report.cpus_asked, &report.cpus_had})
        *sum /= static_cast<double>(started);
    return report;
}

PreferenceReport make_preference_report(const Schedule& run) {
    PreferenceReport report;
    for (const auto& [position, preferences] : run.preferences) {
        ++report.jobs;
        if (!preferences.started)
            ++report.never;
        else if (preferences.missed == 0)
            ++report.all;
        report.missed += static_cast<double>(preferences.missed);
    }
    const std::int64_t started = report.jobs - report.never;
    if (started > 0) report.missed /= static_cast<double>(started);
    return report;
}

}  // namespace pbs::simulate

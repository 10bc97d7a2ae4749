// The status replies of a small site, and a check of answers, for tests of pages.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/monday.h"
#include "tests/web/schema.h"
#include "tests/web/status.h"
#include "tools/web/site.h"

namespace pbs::web {

// A name that would run a script if a page took it as markup.
inline constexpr const char* kScript = "<script>alert(1)</script>";

using test::kMonday10;  // prime time lasts until 17:00

struct SmallSite {
    explicit SmallSite(std::string query_other_jobs = "True")
        : server("pbs1", {{"server_state", "Active"},
                          {"pbs_version", "1"},
                          {"total_jobs", "3"},
                          {"state_count", "Transit:0 Queued:2 Held:0 Waiting:0 Running:1 Exiting:0 Begun:0"},
                          {"query_other_jobs", std::move(query_other_jobs)},
                          {"server_time", "2026-11-23T10:00:00Z"},
                          {"time_zone", "UTC"},
                          {"non_work_days", "11/26/2026 SUMMARY:Thanksgiving <b>"}}),
          scheds("default", {{"scheduling", "True"},
                             {"state", "idle"},
                             {"policy", "p1,np:p2"},
                             {"active_policy", "p1"},
                             {"prime_time", "True"},
                             {"dedicated_time", "False"},
                             {"next_policy_change", "Mon Nov 23 17:00:00 2026 to p2, non-prime time"}}),
          queues("batch", {{"queue_type", "Execution"},
                           {"enabled", "True"},
                           {"started", "True"},
                           {"total_jobs", "3"},
                           {"state_count", "Transit:0 Queued:2 Running:1"},
                           {"time_window", "office"}}),
          policies("p1", {{"algorithm", "standard"}, {"fairshare", "True"}, {"fairshare_group", "g1"}}),
          windows("office", {{"type", "prime"},
                             {"rrule", "FREQ=WEEKLY;BYDAY=MO,TU,WE,TH,FR"},
                             {"start_time", "0800"},
                             {"end_time", "1700"},
                             {"applies_on_holidays", "False"}}) {
        policies.add("p2", {{"algorithm", "standard"}});
    }
    SiteView view() const {
        return {server.get(), scheds.get(), queues.get(), policies.get(), windows.get()};
    }

    StatusOf server;
    StatusOf scheds;
    StatusOf queues;
    StatusOf policies;
    StatusOf windows;
};

inline const Schemas& schemas() {
    static const Schemas all = [] {
        std::ifstream in(PBS_SOURCE_DIR "/tools/web/openapi.json");
        return Schemas(nlohmann::json::parse(in));
    }();
    return all;
}

// Returns success if an answer conforms to this schema of openapi.json.
inline ::testing::AssertionResult is_a(const Answer& answer, const std::string& schema) {
    const auto errors = schemas().errors(nlohmann::json::parse(answer.json.dump()), schema);
    if (errors.empty()) return ::testing::AssertionSuccess();
    auto failure = ::testing::AssertionFailure();
    for (const std::string& error : errors) failure << error << '\n';
    return failure;
}

}  // namespace pbs::web

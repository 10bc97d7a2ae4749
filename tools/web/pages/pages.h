// Declares the pages, each of which has a source file, and the functions that make their answers from a
// server's replies. page.cc lists the pages in the order of the menu.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ifl/cmds/fairshare_format.h"
#include "tools/web/page.h"
#include "tools/web/site.h"

namespace pbs::web {

extern const Page kNowPage;
extern const Page kWhyPage;
extern const Page kWhenPage;
extern const Page kCalendarPage;
extern const Page kChangesPage;
extern const Page kSharesPage;
extern const Page kQuotasPage;
extern const Page kWhatIfPage;

/// Makes the answer of Now: the policy in force and what changes next, jobs by queue, and vnodes. `vnodes` is
/// NULL if there are none.
Answer now_answer(const SiteView& site, const batch_status* vnodes);

/// Makes the answer of Why for a job: why it starts or waits. `explanation` is NULL if there is none, and
/// `error` says why.
Answer why_answer(const SiteView& site, const batch_status& job, const batch_status* explanation,
                  const std::string& error);

/// Makes the answer of Why for lists of jobs. `total` is the number of all jobs of the server, listed or not.
Answer jobs_answer(const SiteView& site, std::initializer_list<const batch_status*> lists,
                   std::int64_t total);

/// The lists from which the page When is made. NULL: an empty list.
struct Schedule {
    const batch_status* vnodes;
    const batch_status* running;
    const batch_status* expected;
    const batch_status* reservations;
};

/// Makes the answer of When: running jobs, reservations and expected starts on vnodes, with windows in the
/// background, from a day ago until `days` from now.
Answer when_answer(const SiteView& site, const Schedule& schedule, std::int64_t days);

/// Makes the answer of Calendar for a month, YYYY-MM: policies, windows, non-work days and reservations. An
/// empty `month` is the present one. `reservations` may be NULL.
Answer calendar_answer(const SiteView& site, const batch_status* reservations, const std::string& month);

/// Converts the history for Changes, latest row first. NULL: no rows.
Json history_rows_json(const batch_status* rows);

/// Compares two documents of the configuration. Error: one of them can't be read.
tl::expected<Json, std::string> difference_json(std::string_view before, std::string_view after);

/// Makes the answer of Shares: the trees of fair shares with their usage. `groups` are the fs_groups; NULL:
/// there are none. `usage` has the trees of all schedulers.
Answer shares_answer(const SiteView& site, const batch_status* groups,
                     const std::vector<cmds::ShareTree>& usage = {});

/// Makes the answer of Quotas: how much of the limits running jobs use, by the counters of each scheduler
/// (pbs_statquotause).
Answer quotas_answer(const SiteView& site,
                     std::span<const std::pair<std::string, const batch_status*>> counters);

/// Makes the answer of What if: the policies that can be compared, and the months for which they can. `days`
/// is the result of pbs_stataccounting() on days; NULL: there are none, and `error` says why.
Answer what_if_answer(const SiteView& site, const batch_status* days, const std::string& error);

}  // namespace pbs::web

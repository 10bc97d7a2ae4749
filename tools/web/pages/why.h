// The page Why: why a job starts or waits, and the list of jobs.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "tools/web/site.h"

namespace pbs::web {

/// Makes the answer for a job. `explanation` is NULL if there is none, and `error` says why.
Answer why_answer(const SiteView& site, const batch_status& job, const batch_status* explanation,
                  const std::string& error);

/// Makes the answer for lists of jobs. `total` is the number of all jobs of the server, listed or not.
Answer jobs_answer(const SiteView& site, std::initializer_list<const batch_status*> lists,
                   std::int64_t total);

}  // namespace pbs::web

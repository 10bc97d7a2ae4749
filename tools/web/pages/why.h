// The page Why: why a job starts or waits.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "tools/web/site.h"

namespace pbs::web {

/// Of a job that the server told of. `explanation` may be NULL, and `error` is why.
Answer why_answer(const SiteView& site, const batch_status& job, const batch_status* explanation,
                  const std::string& error);

/// The jobs of these lists, of so many in all.
Answer jobs_answer(const SiteView& site, std::initializer_list<const batch_status*> lists,
                   std::int64_t total);

}  // namespace pbs::web

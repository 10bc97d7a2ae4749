// The page Changes: who changed what of the configuration, and what is different between two revisions.
#pragma once

#include "tools/web/site.h"

namespace pbs::web {

/// The history, the latest first. `rows` may be NULL: there are none.
Json history_rows_json(const batch_status* rows);

/// What is different between two documents of the configuration; an error if one is none.
tl::expected<Json, std::string> difference_json(std::string_view before, std::string_view after);

}  // namespace pbs::web

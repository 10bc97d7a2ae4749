// The page Changes: who has changed the configuration, and the differences between two revisions.
#pragma once

#include "tools/web/site.h"

namespace pbs::web {

/// Converts the history, latest row first. NULL: no rows.
Json history_rows_json(const batch_status* rows);

/// Compares two documents of the configuration. Error: one of them can't be read.
tl::expected<Json, std::string> difference_json(std::string_view before, std::string_view after);

}  // namespace pbs::web

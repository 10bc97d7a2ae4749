// The page Changes: who changed the configuration, and differences between two revisions.
#pragma once

#include "tools/web/site.h"

namespace pbs::web {

/// Converts the history, latest row first. NULL: no rows.
Json history_rows_json(const batch_status* rows);

/// Compares two documents of the configuration. Error: one isn't a document.
tl::expected<Json, std::string> difference_json(std::string_view before, std::string_view after);

}  // namespace pbs::web

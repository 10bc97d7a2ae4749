// Gives a server many jobs by copying submitted ones in its database.
#pragma once

#include <cstdint>

#include "tests/e2e/harness.h"

namespace pbs::e2e {

// Copies jobs in the database of a stopped server until there are `of_each` of each. The jobs' sequence
// numbers must have no gaps.
::testing::AssertionResult copy_jobs(const Server& server, int64_t of_each);

}  // namespace pbs::e2e

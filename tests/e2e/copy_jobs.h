// Makes many jobs without submitting each.
#pragma once

#include <cstdint>

#include "tests/e2e/harness.h"

namespace pbs::e2e {

// Multiplies each job in a stopped server's database by `of_each`. The numbers of the existing jobs must have
// no gaps.
::testing::AssertionResult copy_jobs(const Server& server, int64_t of_each);

}  // namespace pbs::e2e

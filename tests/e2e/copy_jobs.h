// Many jobs, without the time that it takes to submit them.
#pragma once

#include <cstdint>

#include "tests/e2e/harness.h"

namespace pbs::e2e {

// Makes `of_each` of each job that a stopped server has in its database, by writing them there. There may be
// no gaps between the numbers of those that it has.
::testing::AssertionResult copy_jobs(const Server& server, int64_t of_each);

}  // namespace pbs::e2e

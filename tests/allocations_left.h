// The counter by which a test has an allocation fail. One source of the program includes
// failing_allocations.h.
#pragma once

namespace pbs {

// The number of allocations of this thread up to the one that fails; 0: none fails.
inline thread_local long allocations_left = 0;

}  // namespace pbs

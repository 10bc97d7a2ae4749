// The check of job_sort_formula and usage_formula.
#ifndef PBSPOLICY_OBJECTS_FORMULA_H
#define PBSPOLICY_OBJECTS_FORMULA_H

#include <span>
#include <string_view>

#include "objects/error.h"
#include "objects/resources.h"

namespace pbs::objects {

// Names beside those of resources that a job_sort_formula may use (OpenPBS's, PBS Reference Guide
// "job_sort_formula") and that a usage_formula may (PP-748's example).
std::span<const std::string_view> job_sort_terms();
std::span<const std::string_view> usage_terms();

// Is `text` one expression of muParser's syntax over these names? The error tells the position (from 1) and
// what stands there.
Result<void> check_formula(std::string_view what, std::string_view text, const ResourceNames& resources,
                           std::span<const std::string_view> terms);

}  // namespace pbs::objects

#endif

// The check of job_sort_formula and usage_formula.
#ifndef PBSPOLICY_OBJECTS_FORMULA_H
#define PBSPOLICY_OBJECTS_FORMULA_H

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "objects/error.h"
#include "objects/resources.h"

namespace pbs::objects {

// Names beside those of resources that a job_sort_formula may use (OpenPBS's, PBS Reference Guide
// "job_sort_formula") and that a usage_formula may (PP-748's example).
std::span<const std::string_view> job_sort_terms();
std::span<const std::string_view> usage_terms();

// Is `text` one expression of muParser's syntax over these names? The error tells the position (from 1) and
// what stands there. With `unknown`, names that are neither are no error: they are added to it.
Result<void> check_formula(std::string_view what, std::string_view text, const ResourceNames& resources,
                           std::span<const std::string_view> terms,
                           std::vector<std::string>* unknown = nullptr);

// Does the formula have this name in it?
bool formula_names(std::string_view text, std::string_view name);

}  // namespace pbs::objects

#endif

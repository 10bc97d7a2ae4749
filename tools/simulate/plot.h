// Draws reports as pictures (SVG 1.1).
#pragma once

#include <string>
#include <vector>

#include "tools/simulate/report.h"

namespace pbs::simulate {

struct Picture {
    std::string name;  // name for a file: "utilisation.svg"
    std::string svg;
};

// Draws pictures for a folder: utilisation over time, waiting jobs over time, and the distribution of wait
// times, each with a curve for each report; and for each report with groups, the CPUs in use by group with
// their targets.
std::vector<Picture> to_pictures(const Heading& heading, const std::vector<Report>& reports);

// Draws all plots below each other in one picture.
std::string to_svg(const Heading& heading, const std::vector<Report>& reports);

}  // namespace pbs::simulate

// Reports as pictures (SVG 1.1).
#pragma once

#include <string>
#include <vector>

#include "tools/simulate/report.h"

namespace pbs::simulate {

struct Picture {
    std::string name;  // of a file in a folder: "utilisation.svg"
    std::string svg;
};

// Utilisation over time, jobs waiting over time, and the distribution of wait times, each with a curve for
// each report; and for each report that has some, CPUs in use by group, with targets: for a folder.
std::vector<Picture> to_pictures(const Heading& heading, const std::vector<Report>& reports);

// All below each other in one picture.
std::string to_svg(const Heading& heading, const std::vector<Report>& reports);

}  // namespace pbs::simulate

// Reads the fair-share usage file of the schedulers of PBS and TORQUE, sched_priv/usage (OpenPBS,
// src/scheduler/fairshare.cpp), and the text that pbsfs prints of that file.
//
// Format: records as in the memory of the machine that ran the scheduler, with these offsets and sizes in
// bytes.
//
// Version 2 has a header, the time of the last decay, and a record for each entity with usage:
//
//     64 bit                                      32 bit
//     0   9  "PBS_MAG!" and a NUL                 0   9
//     16  8  2.0, the version, as a double        12  8
//     24  8  seconds since the Epoch              20  4
//     32  64 for each entity: a name of at most   24  60
//            49 bytes and NULs in 50 bytes, and
//            at byte 56 (52) of it its usage as
//            a double
//
// Version 1 has no header: for each entity 24 bytes (32 bit: 20), a name of at most 8 bytes and NULs in 9
// bytes, and at byte 16 (12) its usage. Numbers may be in either byte order.
//
// The text is that of pbsfs without options:
//
//     Fairshare usage units are in: cput
//     alice     : Grp: 0      cgrp: 60    Shares: 10     Usage: 3600   Perc: 25.000%
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "migrate/problem.h"

namespace pbs::migrate {

struct EntityUsage {
    std::string entity;
    double amount = 0;   // in the unit of usage_formula
    int line = 0;        // number of the line in a text, else of the record
    bool group = false;  // a group, whose amount is the sum of its children's
};

struct FairshareUsage {
    std::string file;
    std::vector<EntityUsage> entities;  // in the order of the file, each once
    std::optional<std::chrono::sys_seconds> last_decay{};
    // Mistakes, with the byte or the line: a size that doesn't fit the records, bad names and amounts, and
    // entities that the file has twice. The record, the line or the whole file is left out.
    Problems mistakes;
};

// Reads the bytes of a file; `file` is its name in messages.
FairshareUsage parse_fairshare_usage(std::string_view bytes, const std::string& file);

}  // namespace pbs::migrate

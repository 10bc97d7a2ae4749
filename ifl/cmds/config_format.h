// Rows of the history as pbs_config shows them.
#pragma once

#include <string>
#include <vector>

#include "ifl/pbs_ifl.h"

namespace pbs::cmds {

struct HistoryRow {
    long long revision = 0;
    long long change = 0;
    long long time = 0;  // seconds since the Epoch
    std::string user;
    std::string host;
    std::string command;
    std::string type;
    std::string object;
    std::string before;  // JSON
    std::string after;
};

// From a reply of pbs_stathistory(), in its order.
std::vector<HistoryRow> history_rows(const batch_status* list);

// One line a row: revision, time in the system's zone, who, and the command, with the object behind it where
// the command doesn't name it. What a request did to one object is one line, with its last revision.
std::string history_text(const std::vector<HistoryRow>& rows);
// A JSON array of objects with the members of HistoryRow; before and after are objects or null.
std::string history_json(const std::vector<HistoryRow>& rows);

}  // namespace pbs::cmds

// Rows of the history, as pbs_config prints them.
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

// The rows in a reply of pbs_stathistory(), in its order.
std::vector<HistoryRow> history_rows(const batch_status* list);

// One line for each row: revision, time in the system's zone, user, and the command, followed by the object
// if the command doesn't name it. The rows of one request about one object are one line, with the last
// revision.
std::string history_text(const std::vector<HistoryRow>& rows);
// A JSON array of objects with the members of HistoryRow; before and after are objects or null.
std::string history_json(const std::vector<HistoryRow>& rows);

}  // namespace pbs::cmds

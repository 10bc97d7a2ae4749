// A server with one object of each kind, and a request of each kind that changes one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tests/e2e/harness.h"

namespace pbs::e2e {

struct Request {
    std::string name;
    std::vector<std::string> argv;
    std::string input{};
    bool by_manager = true;
};

// Makes the objects, and the jobs `waiting`, `held` and `array` and the reservation `lecture`, in a server
// that doesn't schedule. Returns the ids of the latter by these names; empty: failed.
std::map<std::string, std::string> set_the_scene(const Server& server);
// Requests of each kind; each succeeds there. None needs another one.
std::vector<Request> requests(const Server& server, const std::map<std::string, std::string>& ids);
Output ask(const Server& server, const Request& request);

// The server's objects as its clients see them. The numbers of jobs aren't part of it: a refused submission
// may take one.
std::string state_of(const Server& server);
// The lines that only one of two states has.
std::string differences_of(const std::string& expected, const std::string& found);

}  // namespace pbs::e2e

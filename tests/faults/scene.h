// A server with one object of each kind, and requests of each kind, each of which changes one of the objects.
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

// Makes the objects in a server that doesn't schedule, among them the jobs `waiting`, `held` and `array` and
// the reservation `lecture`. Returns the ids of these four by their names; empty if something failed.
std::map<std::string, std::string> set_the_scene(const Server& server);
// Returns a request of each kind. Each succeeds on that server, without the others.
std::vector<Request> requests(const Server& server, const std::map<std::string, std::string>& ids);
Output ask(const Server& server, const Request& request);

// Returns the server's objects as clients see them, without job numbers, as a refused submission may take
// one.
std::string state_of(const Server& server);
// Returns the lines that only one of two states has.
std::string differences_of(const std::string& expected, const std::string& found);

}  // namespace pbs::e2e

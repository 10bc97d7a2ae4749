// A server with an object of each kind, and requests of each kind, each of which changes one of the objects.
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

// Makes the objects in a server that doesn't schedule. Among them are the jobs `waiting`, `held` and `array`
// and the reservation `lecture`. Returns the ids of these four by their names; an empty map if something
// failed.
std::map<std::string, std::string> set_the_scene(const Server& server);
// Returns a request of each kind. Each request succeeds on that server without any of the others.
std::vector<Request> requests(const Server& server, const std::map<std::string, std::string>& ids);
Output ask(const Server& server, const Request& request);
// Returns whether a command couldn't reach the server, or lost its connection, so that it doesn't know
// whether the server has carried out its request.
bool lost_connection(const Output& output);

// Returns the server's objects as clients see them. Job numbers are left out, as a refused submission may use
// up a number.
std::string state_of(const Server& server);
// Returns the lines that are in only one of the two states.
std::string differences_of(const std::string& expected, const std::string& found);

}  // namespace pbs::e2e

// Asks a server for the objects of a calendar, through the C API.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ifl/cmds/client.h"
#include "ifl/pbs_ifl.h"
#include "tools/calendar/resources.h"
#include "tools/calendar/site.h"

namespace pbs::calendar {

// `yes`: attributes with resources are included, named as in "resources_available.ncpus".
enum class WithResources : bool { no, yes };
// Converts a status list to objects.
std::vector<ObjectText> object_texts(const batch_status* list, WithResources with = WithResources::no);

// A connection to a server; closed with the object.
class Client {
  public:
    // Connects to a server; an empty `server` is the default one. Errors: the server can't be reached.
    static Result<Client> open(const std::string& server);

    // Asks for all objects that make_site() needs.
    Result<Answers> answers() const;

    // Asks for the jobs that run or are expected to start, and all vnodes, queues and reservations.
    // `quotas_of`: a scheduler whose quotas' counters are asked for, too; empty: no counters are.
    Result<ResourceAnswers> resource_answers(const std::string& quotas_of) const;

    // Adds entries by `set server non_work_days += ...` in one request: all or none. Returns the server's
    // warning, or an empty text. Errors: the server's text.
    Result<std::string> add_non_work_days(std::span<const std::string> entries) const;

  private:
    explicit Client(cmds::Connection connection) : connection_(std::move(connection)) {}
    std::string why(const std::string& what) const;
    // Converts a status reply, and frees it. If the request has failed, sets `failed` to the reason, unless
    // an earlier one is there.
    std::vector<ObjectText> objects_of(const char* what, batch_status* made, WithResources with,
                                       std::string& failed) const;
    cmds::Connection connection_;
};

}  // namespace pbs::calendar

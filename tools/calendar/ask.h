// The replies of a server, through the C API.
#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ifl/cmds/client.h"
#include "ifl/pbs_ifl.h"
#include "tools/calendar/site.h"

namespace pbs::calendar {

// Objects of a status list, without the attributes that have resources.
std::vector<ObjectText> object_texts(const batch_status* list);

// A connection to a server; closed with the object.
class Client {
  public:
    // `server` is empty for the default one. Errors: it can't be reached.
    static Result<Client> open(const std::string& server);

    // Everything that a site is made of.
    Result<Answers> answers() const;

    // `set server non_work_days += ...` in one request: all entries or none. The result is the server's
    // warning, or empty. Errors: the server's text.
    Result<std::string> add_non_work_days(std::span<const std::string> entries) const;

  private:
    explicit Client(cmds::Connection connection) : connection_(std::move(connection)) {}
    std::string why(const std::string& what) const;
    cmds::Connection connection_;
};

}  // namespace pbs::calendar

// Sends manager requests for qmgr without waiting for the answers to earlier ones, when qmgr reads directives
// from a file or a pipe.
#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "ifl/cmds/attr_list.h"
#include "ifl/cmds/client.h"
#include "ifl/cmds/qmgr_grammar.h"

namespace pbs::cmds {

// The requests under way, over all connections, in the order in which they were sent.
class QmgrPipeline {
  public:
    // A request for one object of a directive.
    struct Request {
        Connection* connection;  // outlives the request
        std::string server;      // as the user named it; empty: the default one
        std::string object;
        std::string directive;
        bool first;  // the first request of its directive; carries the messages that are printed once per
                     // directive
    };
    struct Answer {
        Request request;
        int code;  // as pbs_manager() returns it; the text is the connection's
    };

    // Returns whether the directive can be sent ahead. It has to name objects of a type of this project, such
    // as policies: servers that have these carry out closely following requests together.
    static bool takes(const Directive& directive);

    // Sends a request. Returns 0, or the error number; then the request isn't under way.
    int send(Request request, int command, int type, AttrList& attributes);
    // Returns whether so many requests are under way that an answer has to come before the next is sent.
    bool full() const;
    bool empty() const { return under_way_.empty(); }
    // Waits for the answer to the earliest request. There must be one.
    Answer take();
    // Forgets all requests, and returns the directives to which no answer has come.
    std::deque<std::string> take_directives();

  private:
    std::deque<Request> under_way_;
};

}  // namespace pbs::cmds

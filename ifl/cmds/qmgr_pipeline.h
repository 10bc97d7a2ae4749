// Manager requests that qmgr sends ahead of the answers, when it reads its directives from a file or a pipe.
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
        std::string server;      // as named; empty: the default one
        std::string object;
        std::string directive;
        bool first;  // of its directive: what is told once for each directive is told with it
    };
    struct Answer {
        Request request;
        int code;  // as pbs_manager() returns it; its text is that of the connection
    };

    // Can the directive be sent ahead? Those that change named objects of the three kinds that this project
    // adds can: only its own servers know these, and carry out requests that follow each other closely.
    static bool takes(const Directive& directive);

    // Sends. 0, or the error's number: the request isn't under way then.
    int send(Request request, int command, int type, AttrList& attributes);
    // Are so many under way that one is to be answered before the next is sent?
    bool full() const;
    bool empty() const { return under_way_.empty(); }
    // Waits for the answer to the earliest request. There must be one.
    Answer take();
    // The directives that none of the answers taken so far was for; all requests are forgotten.
    std::deque<std::string> take_directives();

  private:
    std::deque<Request> under_way_;
};

}  // namespace pbs::cmds

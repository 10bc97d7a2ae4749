// Answers StatusSched requests for objects other than schedulers. Their extend string is "object=KIND",
// perhaps with more text after it; that text is `extend`.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "server_plugin/host/requests/requests.h"

namespace pbs::host {

// Answers "object=accounting", as described at pbs_stataccounting() in ifl/pbs_ifl.h. Errors: PBSE_PERM
// unless the requester is a manager or operator; PBSE_IVALREQ for a day without records or another extend
// string; PBSE_SYSTEM if a file can't be read.
ifl::Reply status_accounting(Context& context, std::string_view extend);

// Answers "object=configuration". REQUIRES: the server has a plugin.
ifl::Reply status_configuration(Context& context, std::string_view extend);

// Answers "object=changes" by Steps that wait for a change, as described at pbs_statchanges() in
// ifl/pbs_ifl.h. Then `answer("version=N")` makes the further Steps, which show the plugin's answer. Errors:
// PBSE_PERM unless the requester is a manager; PBSE_IVALREQ for another extend string.
using PluginsAnswer = std::function<std::unique_ptr<Steps>(std::string extend)>;
ifl::Reply status_changes(Context& context, std::string_view extend, const PluginsAnswer& answer);

// Answers "object=registration": registers the connection as the scheduler with the object's name, as
// described at pbs_schedregister() in ifl/pbs_ifl.h. Errors: PBSE_PERM unless the requester is a manager;
// PBSE_UNKSCHED; PBSE_SCHEDCONNECTED; PBSE_IVALREQ for attributes or an extend string.
ifl::Reply register_scheduler(Context& context, std::string_view extend);

// Answers "object=diagnosis". The object's name selects a part, as described at pbs_statdiagnosis() in
// ifl/pbs_ifl.h. Errors: PBSE_PERM unless the requester is a manager or operator, or the part is open to all
// users; PBSE_IVALREQ for an unknown part or an extend string.
ifl::Reply status_diagnosis(Context& context, std::string_view extend);

}  // namespace pbs::host

// Says which names of a site the values of an attribute contain, for programs that replace these names.
#pragma once

#include <cstdint>

#include "objects/schema.h"

namespace pbs::objects {

enum class SiteNames : std::uint8_t {
    nothing,      // none but names of resources and of objects of the plugin
    remark,       // a text for people, in which any name may stand
    queues,       // queue or queue@host
    peer_queues,  // queue queue@host:port
    load_queue,   // a queue and a colon, before a threshold
    host,
    path,     // of a file, or of a program
    told_by,  // a path behind ! (dynamic_resources)
    tree,     // users, groups, accounts and queues in an element of a fairshare tree
    members,  // user or @group
    owner,    // [u:user=...], [g:group=...], [p:project=...], [q:queue=...]
    rule,     // a quota's rule
    days,     // a remark behind SUMMARY: (non_work_days)
};

// Returns which names the values of the attribute contain; of a list, its elements.
SiteNames site_names(const Attribute& attribute);

}  // namespace pbs::objects

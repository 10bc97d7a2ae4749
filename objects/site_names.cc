#include "objects/site_names.h"

namespace pbs::objects {

// Each syntax is listed, so that a new one doesn't compile until it says which names it has.
SiteNames site_names(const Attribute& attribute) {
    switch (attribute.syntax) {
        case Syntax::queue:
        case Syntax::queue_list:
            return SiteNames::queues;
        case Syntax::peer_queues:
            return SiteNames::peer_queues;
        case Syntax::load_thresholds:
            return SiteNames::load_queue;
        case Syntax::host:
            return SiteNames::host;
        case Syntax::pathname:
        case Syntax::output_file:
        case Syntax::program:
            return SiteNames::path;
        case Syntax::dynamic_resources:
            return SiteNames::told_by;
        case Syntax::tree_elements:
            return SiteNames::tree;
        case Syntax::entity_weights:
            return SiteNames::owner;
        case Syntax::quota_rules:
            return SiteNames::rule;
        case Syntax::rrule_list:
            return SiteNames::days;
        case Syntax::names:
            return attribute.name == "rule_order" ? SiteNames::nothing : SiteNames::members;
        case Syntax::text:
            return attribute.name == "ticket_order" ? SiteNames::nothing : SiteNames::remark;
        case Syntax::boolean:
        case Syntax::boolean_or_date:
        case Syntax::integer:
        case Syntax::percentage:
        case Syntax::real:
        case Syntax::size:
        case Syntax::duration:
        case Syntax::time_of_day:
        case Syntax::variance:
        case Syntax::word:
        case Syntax::formula:
        case Syntax::rrule:
        case Syntax::preempt_order:
        case Syntax::preempt_prio:
        case Syntax::object_name:
        case Syntax::object_names:
        case Syntax::policy_slots:
        case Syntax::resource_list:
        case Syntax::node_sort_keys:
        case Syntax::place_sort_keys:
        case Syntax::job_sort_keys:
        case Syntax::resource_weights:
        case Syntax::load_weights:
        case Syntax::word_weights:
            break;
    }
    return SiteNames::nothing;
}

}  // namespace pbs::objects

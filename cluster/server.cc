#include "cluster/server.h"

namespace pbs::cluster {
namespace {

constexpr Field<Server> kServer[] = {
    {"backfill_depth", read_number<&Server::backfill_depth>},
    {"clear_topjob_estimates_enable", read_truth<&Server::clears_estimates>},
    {"eligible_time_enable", read_truth<&Server::counts_eligible_time>},
    {"has_runjob_hook", read_truth<&Server::has_runjob_hook>},
    {"job_sort_formula", read_text<&Server::job_sort_formula>},
    {"node_group_enable", read_truth<&Server::node_group_enable>},
    {"node_group_key", read_text<&Server::node_group_key>},
    {"query_other_jobs", read_truth<&Server::others_see_jobs>},
    {"restrict_res_to_release_on_suspend", read_text<&Server::suspend_releases>},
    {"server_host", read_text<&Server::host>},
};
static_assert(std::ranges::is_sorted(kServer, {}, &Field<Server>::name));

constexpr Field<Sched> kSched[] = {
    {"partition",
     [](Sched& sched, const ifl::AttributeView& attribute) {
         sched.partition = partition_of(attribute.value);
     }},
    {"sched_priv", read_text<&Sched::sched_priv>},
    {"scheduling", read_truth<&Sched::scheduling>},
};
static_assert(std::ranges::is_sorted(kSched, {}, &Field<Sched>::name));

}  // namespace

Server server_of(std::string_view name, AttributeViews attributes) {
    Server server;
    server.name = name;
    read_fields<Server>(server, attributes, kServer);
    read_fields(server.limits, attributes, limit_fields());
    return server;
}

void read_sched(Sched& sched, AttributeViews attributes) {
    read_fields<Sched>(sched, attributes, kSched);
}

std::string partition_of(std::string_view value) {
    return value == "pbs-default" ? std::string() : std::string(value);
}

}  // namespace pbs::cluster

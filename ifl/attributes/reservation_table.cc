// The attributes of reservations.
#include <array>

#include "ifl/attributes/attribute_table.h"

namespace pbs::ifl {
namespace {

using enum AttributeType;

constexpr std::uint32_t kGiven = kReadOnly | at_creation;

// The rows, in the order in which pbs_rstat -f shows them. Instants are seconds since the Epoch.
constexpr auto kReservationRows = std::to_array<AttributeDef>({
    {"Reserve_Name", text, kReadWrite},
    {"Reserve_Owner", text, kReadOnly},
    {"reserve_state", integer, kReadOnly},
    {"reserve_substate", integer, kReadOnly},
    {"reserve_start", integer, kReadWrite},
    {"reserve_end", integer, kReadWrite},
    {"reserve_duration", integer, kReadWrite},
    {"queue", text, kReadOnly},
    {"Resource_List", resources, kReadWrite},
    {"schedselect", text, kManagersRead},
    {"resv_nodes", text, kReadOnly},
    {"User_List", list, kGiven},
    {"group_list", list, kGiven},
    {"Authorized_Users", acl, kReadWrite},
    {"Authorized_Groups", acl, kReadWrite},
    {"Authorized_Hosts", acl, kGiven},
    {"server", text, kReadOnly},
    {"Account_Name", text, kGiven},
    {"ctime", integer, kReadOnly},
    {"Mail_Points", text, kReadWrite},
    {"Mail_Users", list, kReadWrite},
    {"mtime", integer, kReadOnly},
    {"hop_count", integer, kManagersRead},
    {"Priority", integer, kGiven},
    {"interactive", integer, kManagersRead | kAllWrites},
    {"Variable_List", environment, kGiven},
    {"euser", text, kManagersRead},
    {"egroup", text, kManagersRead},
    {"reserve_standing", integer, kGiven},
    {"reserve_rrule", text, kGiven},
    {"reserve_timezone", text, kGiven},
    {"reserve_index", integer, kReadOnly},
    {"reserve_count", integer, kReadOnly},
    {"reserve_execvnodes", text, kReadOnly},
    {"reserve_retry", integer, kReadOnly},
    {"reserve_job", text, kGiven},
    {"qmove", text, kGiven},
    {"delete_idle_time", duration, kReadWrite},
    {"Submit_Host", text, kReadOnly},
    {"partition", text, kReadOnly},
    // an alteration that the scheduler hasn't answered yet
    {"asked_start", integer, 0},
    {"asked_end", integer, 0},
    {"asked_select", text, 0},
    {"asked_force", integer, 0},
    // since when the reservation runs without jobs, for delete_idle_time
    {"idle_since", integer, 0},
    // the start and the duration by which a standing reservation repeats
    // (server_plugin/host/state/occurrences.h)
    {"series_start", integer, kReadOnly},
    {"series_duration", integer, kReadOnly},
    // only in OpenPBS's server
    {"reservation_Tag", text, kReadOnly | openpbs_only},
});

}  // namespace

const AttributeTable& reservation_table() {
    static constexpr AttributeTable kTable{kReservationRows};
    return kTable;
}

}  // namespace pbs::ifl

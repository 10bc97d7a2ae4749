// The table of a time_window's attributes: that of PP-748, interface 2.

#include "objects/attribute_tables.h"

namespace pbs::objects {
namespace {

using T = AttributeType;
using S = Syntax;

constexpr Attribute kTimeWindowTable[] = {
    {"rrule", T::string, S::rrule, "", plain,
     "The days on which the window opens: a recurrence of RFC 5545, with or without RRULE:, and optionally "
     "DTSTART, RDATE and EXDATE lines separated by a newline or a space. A window without one never opens",
     "set time_window t1 rrule=\"RRULE:FREQ=WEEKLY;WKST=SU;BYDAY=MO,TU,WE,TH,FR\""},
    {"applies_on_holidays", T::boolean, S::boolean, "True", plain,
     "Whether the window also opens on the server's non_work_days",
     "set time_window t1 applies_on_holidays = False"},
    {"only_on_holidays", T::boolean, S::boolean, "False", plain,
     "Whether the window opens on the server's non_work_days only, of the days of its rrule. Not together "
     "with applies_on_holidays=False",
     "set time_window t1 rrule=FREQ=DAILY, only_on_holidays = True"},
    {"start_time", T::time, S::time_of_day, "", plain, "When the window opens; midnight if not set",
     "set time_window t1 start_time=06:00:00"},
    {"end_time", T::time, S::time_of_day, "", plain,
     "When the window closes, on the next day if that isn't after start_time; 24:00 if not set",
     "set time_window t1 end_time=09:00:00"},
    {.name = "type",
     .type = T::string,
     .syntax = S::word,
     .default_value = "standard",
     .flags = plain,
     .help =
         "standard: for queues; prime: the union of these is prime time; dedicated: the union of these is "
         "dedicated time",
     .example = "set time_window t1 type=dedicated",
     .words = {"standard", "prime", "dedicated"},
     .notes = {{Asks::without, "rrule"}}},
    {.name = "at_close",
     .type = T::string,
     .syntax = S::word,
     .default_value = "run",
     .flags = plain,
     .help = "The fate of the running jobs of a queue when this window closes and no other window of the "
             "queue is "
             "open. run: they go on; suspend: they are suspended, and go on when a window opens, before jobs "
             "that "
             "wait; requeue: they are queued again if they are rerunnable, else they go on",
     .example = "set time_window t1 rrule=FREQ=DAILY, at_close=suspend",
     .words = {"run", "suspend", "requeue"},
     .notes = {{Asks::without, "type=standard"}, {Asks::without, "rrule"}}},
    {"comment", T::string, S::text, "", operator_sets, "A remark, for people",
     "set time_window t1 comment=\"nightly data processing\""},
};

}  // namespace

std::span<const Attribute> time_window_attributes() {
    return kTimeWindowTable;
}

}  // namespace pbs::objects

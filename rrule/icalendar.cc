#include "rrule/icalendar.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <libical/ical.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "rrule/content_lines.h"
#include "rrule/ical_date.h"
#include "rrule/non_work_days.h"
#include "rrule/plain_text.h"

namespace pbs::rrule {
namespace {

struct FreeComponent {
    void operator()(icalcomponent* component) const { icalcomponent_free(component); }
};
using Component = std::unique_ptr<icalcomponent, FreeComponent>;

std::string text_of(const char* text) {
    return text ? text : "";
}

// Copies and frees a string that a libical function with a name in _r has returned. (The strings of libical's
// other functions are in a ring that libical reuses.)
std::string owned(char* text) {
    std::string copy = text_of(text);
    icalmemory_free_buffer(text);
    return copy;
}

std::vector<std::string> property_texts(icalcomponent* event, icalproperty_kind kind) {
    std::vector<std::string> out;
    for (icalproperty* p = icalcomponent_get_first_property(event, kind); p;
         p = icalcomponent_get_next_property(event, kind))
        out.push_back(owned(icalproperty_get_value_as_string_r(p)));
    return out;
}

std::string line_of(const char* text) {
    return plain_text(text_of(text));
}

std::string title(icalcomponent* event) {
    const std::string summary = line_of(icalcomponent_get_summary(event));
    return summary.empty() ? line_of(icalcomponent_get_uid(event)) : summary;
}

// Silences libical, which prints mistakes to standard error, while this object lives.
class Quiet {
  public:
    Quiet() : kept_(dup(STDERR_FILENO)) {
        const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
        if (kept_ >= 0 && nothing >= 0) dup2(nothing, STDERR_FILENO);
        if (nothing >= 0) close(nothing);
    }
    ~Quiet() {
        if (kept_ < 0) return;
        dup2(kept_, STDERR_FILENO);
        close(kept_);
    }
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

  private:
    int kept_;
};

// Returns whether libical's remark is about a property that doesn't determine days, such as an empty
// DESCRIPTION. Calendar programs write such properties, and some leave libical's remark in the file.
bool is_beside_the_days(std::string_view remark) {
    constexpr std::string_view kBegins[] = {"No value for ", "Can't parse as "};
    constexpr std::string_view kDays[] = {"DTSTART", "DTEND",  "DURATION", "RRULE",
                                          "RDATE",   "EXDATE", "EXRULE",   "RECURRENCE-ID"};
    constexpr std::string_view kProperty = " property";
    const bool known = std::ranges::any_of(kBegins, [&](auto begin) { return remark.starts_with(begin); });
    const std::size_t end = remark.find(kProperty);
    if (!known || end == std::string_view::npos) return false;
    remark = remark.substr(0, end);
    return std::ranges::find(kDays, remark.substr(remark.rfind(' ') + 1)) == std::end(kDays);
}

// Returns an error for the first line about days that libical couldn't read. The file is then refused as a
// whole: otherwise a missing holiday would only be noticed on its day.
std::optional<Error> syntax_error(icalcomponent* component) {
    for (icalproperty* p = icalcomponent_get_first_property(component, ICAL_XLICERROR_PROPERTY); p;
         p = icalcomponent_get_next_property(component, ICAL_XLICERROR_PROPERTY)) {
        const std::string remark = line_of(icalproperty_get_xlicerror(p));
        if (is_beside_the_days(remark)) continue;
        return Error{
            fmt::format("{} '{}': {}", text_of(icalcomponent_kind_to_string(icalcomponent_isa(component))),
                        title(component), remark),
            std::nullopt};
    }
    for (icalcomponent* c = icalcomponent_get_first_component(component, ICAL_ANY_COMPONENT); c;
         c = icalcomponent_get_next_component(component, ICAL_ANY_COMPONENT)) {
        if (auto error = syntax_error(c)) return error;
    }
    return std::nullopt;
}

std::string date_text(LocalDay day) {
    const std::chrono::year_month_day ymd(day);
    return fmt::format("{:04}{:02}{:02}", static_cast<int>(ymd.year()), static_cast<unsigned>(ymd.month()),
                       static_cast<unsigned>(ymd.day()));
}

std::string single_day(LocalDay day) {
    const std::chrono::year_month_day ymd(day);
    return fmt::format("{:02}/{:02}/{:04}", static_cast<unsigned>(ymd.month()),
                       static_cast<unsigned>(ymd.day()), static_cast<int>(ymd.year()));
}

// Reads the days of one event.
class Event {
  public:
    Event(icalcomponent* event, const Zone& zone) : event_(event), zone_(zone) {}

    // Adds the event's entries, or the reason for skipping it.
    void read(HolidayCalendar& out) {
        const std::string summary = title(event_);
        std::string why = refusal();
        std::vector<std::string> entries;
        if (why.empty()) why = make_entries(entries);
        if (!why.empty()) {
            out.skipped.push_back({summary, why});
            return;
        }
        for (std::string& entry : entries) out.holidays.push_back({summary, std::move(entry)});
    }

  private:
    // The reason why the event is no holiday; empty if it may be one.
    std::string refusal() {
        start_ = icalcomponent_get_dtstart(event_);
        if (icaltime_is_null_time(start_)) return "it has no DTSTART";
        if (!start_.is_date) return "it has a time of day";
        if (start_.year < 1601 || start_.year > 9999) return "its DTSTART is not in the years 1601 to 9999";
        if (icalcomponent_get_status(event_) == ICAL_STATUS_CANCELLED) return "it is cancelled";
        if (icalcomponent_get_first_property(event_, ICAL_RECURRENCEID_PROPERTY))
            return "it changes one occurrence of another event; correct that day by hand";
        return {};
    }

    // Reads the number of days that the event lasts; returns the reason if they can't be counted. DTEND is
    // the first day after the event. Without DTEND and DURATION the event has a single day (RFC 5545 3.6.1),
    // and also if DTEND is the day of DTSTART, which some programs write.
    std::string read_length(std::int64_t& days) {
        days = 0;
        if (icalproperty* at = icalcomponent_get_first_property(event_, ICAL_DTEND_PROPERTY)) {
            const icaltimetype end = icalproperty_get_dtend(at);
            if (end.hour != 0 || end.minute != 0 || end.second != 0)
                return "its DTEND has a time of day although its DTSTART has none";
            days = (day_of(end) - day_of(start_)).count();
            if (days < 0) return "its DTEND is before its DTSTART";
        } else if (icalproperty* of = icalcomponent_get_first_property(event_, ICAL_DURATION_PROPERTY)) {
            const icaldurationtype lasts = icalproperty_get_duration(of);
            const std::chrono::seconds time =
                std::chrono::weeks(lasts.weeks) + std::chrono::days(lasts.days) +
                std::chrono::hours(lasts.hours) + std::chrono::minutes(lasts.minutes) +
                std::chrono::seconds(lasts.seconds);
            days = std::chrono::floor<std::chrono::days>(time).count();
            if (lasts.is_neg != 0 || time != std::chrono::days(days))
                return "its DURATION is not a number of whole days";
        }
        days = std::max<std::int64_t>(1, days);
        if (days <= NamedDays::kMostDays) return {};
        return fmt::format("it lasts {} days; expected at most {}", days, NamedDays::kMostDays);
    }

    // Makes the entries. A recurring event gets one entry for each rule, with its DURATION; any other event
    // gets one for each day.
    std::string make_entries(std::vector<std::string>& entries) {
        const std::vector<std::string> rules = property_texts(event_, ICAL_RRULE_PROPERTY);
        const std::string more =
            fmt::format("{}", fmt::join(property_texts(event_, ICAL_RDATE_PROPERTY), ","));
        const std::string less =
            fmt::format("{}", fmt::join(property_texts(event_, ICAL_EXDATE_PROPERTY), ","));
        std::int64_t days = 1;
        if (std::string why = read_length(days); !why.empty()) return why;
        if (icalcomponent_get_first_property(event_, ICAL_EXRULE_PROPERTY))
            return "it has an EXRULE; expected EXDATE";
        const std::string name =
            shortened(line_of(icalcomponent_get_summary(event_)), NamedDays::kLongestName);
        const LocalDay start = day_of(start_);
        if (rules.empty() && more.empty()) {
            for (std::int64_t offset = 0; offset < days; ++offset)
                entries.push_back(NamedDays{single_day(start + std::chrono::days(offset)), 1, name}.entry());
        } else {
            const auto entry = [&](const std::string& rule, const std::string& dates) {
                std::string text = fmt::format("DTSTART;VALUE=DATE:{}", date_text(start));
                if (!rule.empty()) text += " RRULE:" + rule;
                if (!dates.empty()) text += " RDATE;VALUE=DATE:" + dates;
                if (!less.empty()) text += " EXDATE;VALUE=DATE:" + less;
                entries.push_back(NamedDays{text, static_cast<int>(days), name}.entry());
            };
            // without a rule, DTSTART itself is one of the days
            if (rules.empty()) entry("", date_text(start) + "," + more);
            for (const std::string& rule : rules) entry(rule, &rule == &rules.front() ? more : "");
        }
        for (const std::string& made : entries)
            if (const auto read = NonWorkDays::parse(std::span(&made, 1), zone_); !read)
                return read.error().message;
        return {};
    }

    icalcomponent* event_;
    const Zone& zone_;
    icaltimetype start_{};
};

Result<Component> parse(std::string_view text) {
    // the byte order mark of UTF-8, which editors of Windows write
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    // libical reads up to the first NUL, and skips everything before BEGIN
    if (text.find('\0') != std::string_view::npos)
        return tl::unexpected(
            Error{"the file has a NUL byte; expected a calendar file (.ics)", std::nullopt});
    if (auto error = nesting_error(text)) return tl::unexpected(std::move(*error));
    Component root(icalparser_parse_string(std::string(text).c_str()));
    if (!root || (icalcomponent_isa(root.get()) != ICAL_VCALENDAR_COMPONENT &&
                  icalcomponent_isa(root.get()) != ICAL_XROOT_COMPONENT))
        return tl::unexpected(
            Error{"there is no complete calendar, from BEGIN:VCALENDAR to END:VCALENDAR; expected a calendar "
                  "file (.ics)",
                  std::nullopt});
    if (auto error = syntax_error(root.get())) return tl::unexpected(*error);
    if (auto error = date_error(text)) return tl::unexpected(*error);
    return root;
}

void read_events(icalcomponent* calendar, const Zone& zone, HolidayCalendar& out) {
    for (icalcomponent* event = icalcomponent_get_first_component(calendar, ICAL_VEVENT_COMPONENT); event;
         event = icalcomponent_get_next_component(calendar, ICAL_VEVENT_COMPONENT)) {
        Event(event, zone).read(out);
    }
}

// ---- Writing.

icaltimetype utc_time(Instant t) {
    return icaltime_from_timet_with_zone(static_cast<time_t>(t.time_since_epoch().count()), 0,
                                         icaltimezone_get_utc_timezone());
}

icalcomponent* new_event(icalcomponent* calendar, const std::string& uid, const std::string& summary,
                         const std::string& category, Instant stamp) {
    icalcomponent* event = icalcomponent_new(ICAL_VEVENT_COMPONENT);
    icalcomponent_add_component(calendar, event);
    icalcomponent_add_property(event, icalproperty_new_uid(uid.c_str()));
    icalcomponent_add_property(event, icalproperty_new_dtstamp(utc_time(stamp)));
    icalcomponent_add_property(event, icalproperty_new_summary(summary.c_str()));
    icalcomponent_add_property(event, icalproperty_new_categories(category.c_str()));
    // TRANSPARENT: the event doesn't make anybody busy
    icalcomponent_add_property(event, icalproperty_new_transp(ICAL_TRANSP_TRANSPARENT));
    return event;
}

}  // namespace

Result<HolidayCalendar> read_holidays(std::string_view text, const Zone& zone) {
    const Quiet quiet;
    Result<Component> root = parse(text);
    if (!root) return tl::unexpected(root.error());
    HolidayCalendar out;
    if (icalcomponent_isa(root->get()) == ICAL_VCALENDAR_COMPONENT) {
        read_events(root->get(), zone, out);
        return out;
    }
    for (icalcomponent* c = icalcomponent_get_first_component(root->get(), ICAL_VCALENDAR_COMPONENT); c;
         c = icalcomponent_get_next_component(root->get(), ICAL_VCALENDAR_COMPONENT)) {
        read_events(c, zone, out);
    }
    return out;
}

std::string write_calendar(std::string_view name, std::span<const TimedEvent> timed,
                           std::span<const DayEvent> days, Instant stamp) {
    const Component calendar(icalcomponent_new(ICAL_VCALENDAR_COMPONENT));
    icalcomponent_add_property(calendar.get(), icalproperty_new_version("2.0"));
    icalcomponent_add_property(calendar.get(), icalproperty_new_prodid("-//pbspolicy//pbs_calendar//EN"));
    icalproperty* title_property = icalproperty_new_x(std::string(name).c_str());
    icalproperty_set_x_name(title_property, "X-WR-CALNAME");
    icalcomponent_add_property(calendar.get(), title_property);
    for (const TimedEvent& event : timed) {
        icalcomponent* made = new_event(calendar.get(), event.uid, event.summary, event.category, stamp);
        icalcomponent_add_property(made, icalproperty_new_dtstart(utc_time(event.when.start)));
        icalcomponent_add_property(made, icalproperty_new_dtend(utc_time(event.when.end)));
    }
    for (const DayEvent& event : days) {
        icalcomponent* made = new_event(calendar.get(), event.uid, event.summary, event.category, stamp);
        icalcomponent_add_property(made, icalproperty_new_dtstart(ical_date(event.day)));
        icalcomponent_add_property(made, icalproperty_new_dtend(ical_date(event.day + std::chrono::days(1))));
    }
    return owned(icalcomponent_as_ical_string_r(calendar.get()));
}

}  // namespace pbs::rrule

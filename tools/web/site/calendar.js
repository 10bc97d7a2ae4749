// The page Calendar: a month as a grid, or a week by the hour, and a table of beginnings and ends.
import {h, legend, section, table, update} from "./dom.js";
import {ask, live} from "./live.js";
import {spanText} from "./words.js";

const kPhases = {prime: "prime time", non_prime: "non-prime time", dedicated: "dedicated time"};
const kWeekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const kMonths = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
                 "December"];

const query = new URLSearchParams(location.search);
const week = query.get("week");  // the week's Monday, YYYY-MM-DD
const month = week ? week.slice(0, 7) : query.get("month") ?? "";

const bar = h("div", {class: "form"});
const grid = section("Month", "days");
const policies = section("Policies", "policies");
const list = section("What lasts from when to when", "spans");
document.getElementById("page").append(bar, grid.element, policies.element, list.element);

const iso = (date) => date.toISOString().slice(0, 10);
const plus = (day, days) => iso(new Date(Date.parse(`${day}T00:00:00Z`) + days * 86400000));
const weekday = (day) => (new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7;  // number of the weekday, Monday
                                                                              // is 0
const monday = (day) => plus(day, -weekday(day));
const title = (text) => `${kMonths[Number(text.slice(5, 7)) - 1]} ${text.slice(0, 4)}`;
const hm = (minute) => `${String(Math.floor(minute / 60)).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}`;
const hours = (parts) => parts.map((part) => `${hm(part.from)} to ${hm(part.to)}`).join(", ");

function links(json) {
    const here = week ?? monday(json.today.startsWith(json.month) ? json.today : `${json.month}-01`);
    const go = (parameters, text) => h("a", {class: "button", href: `calendar?${new URLSearchParams(parameters)}`}, text);
    return [
        week ? go({week: plus(week, -7)}, "\u2190 Week before") : go({month: json.before}, `\u2190 ${title(json.before)}`),
        h("a", {class: "button", href: week ? `calendar?week=${monday(json.today)}` : "calendar"}, "Today"),
        week ? go({week: plus(week, 7)}, "Next week \u2192") : go({month: json.after}, `${title(json.after)} \u2192`),
        week ? go({month: week.slice(0, 7)}, "Month") : go({week: here}, "Week"),
    ];
}

// Draws a day as a strip of 24 hours.
function strip(parts, kind) {
    const element = h("span", {class: "strip", "aria-hidden": "true"});
    for (const part of parts) {
        const piece = h("i", {class: kind(part)});
        piece.style.left = `${part.from / 14.4}%`;
        piece.style.width = `${(part.to - part.from) / 14.4}%`;
        element.append(piece);
    }
    return element;
}

function phases(day) {
    const kinds = new Set(day.parts.map((part) => part.phase));
    if (kinds.size === 1) return `${kPhases[day.parts[0].phase]} all day`;
    return ["prime", "dedicated"].filter((kind) => kinds.has(kind)).map(
        (kind) => `${kPhases[kind]} ${hours(day.parts.filter((part) => part.phase === kind))}`).join("; ");
}

function dayCell(json, clock, day, index) {
    const remarks = [day.non_work ? day.name || "non-work day" : "", day.clock].filter(Boolean);
    const reserved = json.reservations.filter((one) => {
        const from = clock.fields(one.from);
        const to = clock.fields(one.to - 1);
        const text = (at) => `${at.year}-${String(at.month).padStart(2, "0")}-${String(at.day).padStart(2, "0")}`;
        return text(from) <= day.date && text(to) >= day.date;
    });
    return h("td", {class: [day.date === json.today ? "today" : "", day.non_work ? "holiday" : ""].join(" ")},
        h("span", {class: "date"}, h("span", {"aria-hidden": "true"}, Number(day.date.slice(8))),
          h("span", {class: "unseen"}, day.date === json.today ? `${day.date}, today` : day.date)),
        remarks.map((text) => h("span", {class: "remark"}, text)),
        strip(day.parts, (part) => part.phase), h("span", {class: "unseen"}, phases(day)),
        json.queues.map((queue) => queue.days[index].length === 0 ?
            h("span", {class: "unseen"}, `queue ${queue.name} closed`) :
            h("span", {class: "queue-hours"}, queue.name, strip(queue.days[index], () => "open"),
              h("span", {class: "unseen"}, hours(queue.days[index])))),
        reserved.map((one) => h("span", {class: "remark"}, `Reservation ${one.name || one.id}`)));
}

function monthGrid(json, clock) {
    const first = weekday(json.days[0].date);
    const cells = [...Array.from({length: first}, () => h("td", {class: "outside"})),
                   ...json.days.map((day, index) => dayCell(json, clock, day, index))];
    while (cells.length % 7) cells.push(h("td", {class: "outside"}));
    const weeks = Array.from({length: cells.length / 7}, (_, at) => h("tr", {}, cells.slice(at * 7, at * 7 + 7)));
    return h("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": title(json.month)},
        h("table", {class: "month"}, h("caption", {}, title(json.month)),
            h("thead", {}, h("tr", {}, kWeekdays.map((name) => h("th", {scope: "col"}, name)))), h("tbody", {}, weeks)));
}

function weekGrid(days, queues) {
    const scale = h("span", {class: "strip scale", "aria-hidden": "true"}, [0, 6, 12, 18].map((hour) => {
        const mark = h("i", {}, `${String(hour).padStart(2, "0")}:00`);
        mark.style.left = `${hour / 0.24}%`;
        return mark;
    }));
    const row = (name, parts, kind, text, style) => h("tr", {class: style}, h("th", {scope: "row"}, name),
        h("td", {}, strip(parts, kind), h("span", {class: "unseen"}, text)));
    return h("table", {class: "week"}, h("caption", {}, `The week from ${days[0]?.date ?? ""}`),
        h("thead", {}, h("tr", {}, h("th", {scope: "col"}, "Day"), h("th", {scope: "col"}, scale, h("span", {class: "unseen"}, "Hours")))),
        h("tbody", {}, days.map((day, at) => [
            row([h("span", {}, `${kWeekdays[weekday(day.date)]} ${Number(day.date.slice(8))}`),
                 day.non_work ? h("span", {class: "remark"}, day.name || "non-work day") : null,
                 day.clock ? h("span", {class: "remark"}, day.clock) : null],
                day.parts, (part) => part.phase, phases(day), "day"),
            queues.map((queue) => row(h("span", {class: "sub"}, `queue ${queue.name}`), queue.days[at] ?? [], () => "open",
                                      hours(queue.days[at] ?? []) || "closed", "queue")),
        ])));
}

// Asks for a week, whose days may be in two months.
async function weekOf(json) {
    const wanted = Array.from({length: 7}, (_, at) => plus(week, at));
    const parts = [json];
    if (wanted[6].slice(0, 7) !== json.month) parts.push(await ask("calendar", {month: wanted[6].slice(0, 7)}));
    const days = parts.flatMap((part) => part.days.filter((day) => wanted.includes(day.date)));
    const names = [...new Set(parts.flatMap((part) => part.queues.map((queue) => queue.name)))];
    const queues = names.map((name) => ({name, days: parts.flatMap((part) => {
        const queue = part.queues.find((one) => one.name === name);
        return part.days.flatMap((day, at) => wanted.includes(day.date) ? [queue?.days[at] ?? []] : []);
    })}));
    return {days, queues};
}

live("calendar", {month}, async (json, clock) => {
    update(bar, [json.before, json.today], () => links(json));
    document.getElementById("days-title").textContent = week ? `Week from ${week}` : title(json.month);
    const shown = week ? await weekOf(json) : null;
    update(grid.body, [json.days, json.queues, json.reservations, json.today, shown], () => [
        shown ? weekGrid(shown.days, shown.queues) : monthGrid(json, clock),
        h("p", {class: "hint"}, legend(["prime", "prime time"], ["non-prime", "non-prime time"], ["dedicated", "dedicated time"],
                                       ["open", "queue is open"])),
    ]);
    update(policies.body, json.policies, () => table("Policies by kind of time", [
        {title: "Scheduler", cell: (row) => row.sched}, {title: "Prime time", cell: (row) => row.prime || "none"},
        {title: "Non-prime time", cell: (row) => row.non_prime || "none"}, {title: "Dedicated time", cell: (row) => row.dedicated || "none"},
    ], json.policies));
    update(list.body, json.spans, () => h("details", {}, h("summary", {}, "As a table"), table("Spans of time", [
        {title: "From", cell: (span) => (span.began_earlier ? "before " : "") + clock.text(span.from)},
        {title: "To", cell: (span) => (span.goes_on ? "after " : "") + clock.text(span.to)}, {title: "What", class: "break", cell: spanText},
    ], json.spans)));
});

// The page When: running jobs, reservations and expected starts as bars.
import {h, section} from "./dom.js";
import {Gantt} from "./gantt.js";
import {live} from "./live.js";
import {PagedTable} from "./paged_table.js";
import {duration} from "./time.js";

const {element, body} = section("Schedule", "schedule");
document.getElementById("page").append(element);
const gantt = new Gantt(body);
let clock = null;
let now = 0;
const rows = new PagedTable({
    title: "Jobs and reservations as a table",
    label: "Id, name, owner or queue",
    text: (bar) => `${bar.id} ${bar.name} ${bar.owner} ${bar.queue ?? ""}`,
    columns: [
        {title: "Id", cell: (bar) => bar.kind === "reservation" ? bar.id : h("a", {href: `why?job=${encodeURIComponent(bar.id)}`}, bar.id)},
        {title: "What", cell: (bar) => bar.kind},
        {title: "Name", class: "break", cell: (bar) => bar.name},
        {title: "Owner", cell: (bar) => bar.owner.split("@")[0]},
        {title: "Queue", cell: (bar) => bar.queue ?? ""},
        {title: "From", cell: (bar) => clock.near(bar.from, now)},
        {title: "To", cell: (bar) => bar.to === null ? "open" : clock.near(bar.to, now)},
        {title: "Lasts", number: true, cell: (bar) => bar.to === null ? "" : duration(bar.to - bar.from)},
        {title: "Vnodes", number: true, cell: (bar) => bar.vnodes.length},
    ],
});
const note = h("p", {class: "hint"});
body.append(note, rows.element);

const days = new URLSearchParams(location.search).get("days") ?? "";
live("when", {days}, (json, itsClock) => {
    clock = itsClock;
    now = json.time;
    const bars = [...json.jobs.map((job) => ({...job, kind: job.state})),
                  ...json.reservations.map((one) => ({...one, kind: "reservation"}))];
    bars.sort((a, b) => a.from - b.from);
    gantt.show(json, bars, clock);
    rows.show(bars);
    note.textContent = json.jobs_left_out ? `${json.jobs_left_out} more jobs aren't shown.` : "";
});

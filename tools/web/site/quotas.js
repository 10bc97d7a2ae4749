// The page Quotas: what running jobs use of each counter of a quota.
import {h, update} from "./dom.js";
import {live} from "./live.js";
import {PagedTable} from "./paged_table.js";

const page = document.getElementById("page");
const whose = (row) => Object.entries(row.of).map(([filter, value]) => `${filter}=${value}`).join(" ") || "all";

// Draws the used part of a limit as a bar from the left.
function meter(row) {
    if (row.part === null) return "";
    const part = Math.min(1, row.part);
    const bar = h("i", {class: "running"});
    bar.style.flexGrow = part;
    const rest = h("i", {class: "rest"});
    rest.style.flexGrow = 1 - part;
    return h("span", {class: "bar", "aria-hidden": "true"}, bar, rest);
}

const counters = new PagedTable({
    title: "Counters of quotas", open: true, label: "Search ",
    text: (row) => `${row.quota} ${row.rule} ${whose(row)} ${row.resource} ${row.sched}`,
    columns: [
        {title: "Quota", cell: (row) => row.quota},
        {title: "Rule", cell: (row) => row.rule},
        {title: "Counter", cell: whose},
        {title: "Resource", cell: (row) => row.resource},
        {title: "Used", number: true, cell: (row) => row.used},
        {title: "Limit", number: true, cell: (row) => row.limit === "-" ? "none" : row.limit},
        {title: "", class: "wide", cell: meter},
        {title: "In force", cell: (row) => row.in_force ? "yes" : row.enabled ? "not now" : "not enabled"},
        {title: "Scheduler", cell: (row) => row.sched},
    ]});

live("quotas", {}, (json) => {
    const none = json.counters.length === 0;
    update(page, none ? "none" : "some", () => none
        ? h("p", {class: "empty"}, "No running job that you may see is counted by a quota.") : counters.element);
    if (!none) counters.show(json.counters);
});

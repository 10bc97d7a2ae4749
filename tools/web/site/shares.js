// The page Shares: the trees of fair shares, with each element's usage and trend.
import {h, section, svg, table, update} from "./dom.js";
import {live} from "./live.js";
import {duration} from "./time.js";

const page = document.getElementById("page");
const sections = new Map();

const percent = (part) => `${(part * 100).toLocaleString("en", {minimumFractionDigits: 1, maximumFractionDigits: 1})} %`;

// Draws a part of the machine as a bar from the left.
function meter(part) {
    const bar = h("i", {class: "running"});
    bar.style.flexGrow = part;
    const rest = h("i", {class: "rest"});
    rest.style.flexGrow = 1 - part;
    return h("span", {class: "bar", "aria-hidden": "true"}, bar, rest);
}

// Draws an element's part of all usage over the last 24 hours as a line. The text beside it says the same.
function trend(row) {
    const samples = row.trend;
    if (samples.length < 2) return h("span", {class: "hint"}, "from now on");
    const first = samples[0];
    const last = samples[samples.length - 1];
    const most = Math.max(...samples.map((one) => one.actual), row.target, 1e-9);
    const points = samples.map((one) => `${(100 * (one.time - first.time) / (last.time - first.time)).toFixed(1)},` +
                                        `${(19 - 18 * one.actual / most).toFixed(1)}`).join(" ");
    const line = svg("svg", {viewBox: "0 0 100 20", class: "trend", "aria-hidden": "true", preserveAspectRatio: "none"},
                     svg("line", {x1: 0, x2: 100, y1: 19 - 18 * row.target / most, y2: 19 - 18 * row.target / most, class: "meant"}),
                     svg("polyline", {points}));
    const change = last.actual - first.actual;
    const way = Math.abs(change) < 0.0005 ? "steady" : `${change > 0 ? "+" : "\u2212"}${percent(Math.abs(change))}`;
    return h("span", {class: "trends"}, line, h("span", {}, way),
             h("span", {class: "unseen"}, ` in ${duration(last.time - first.time)}, from ${percent(first.actual)}`));
}

// Makes the table that compares elements' usage with their shares.
function usageTable(group, tree) {
    return table(`Usage of ${group.name} in scheduler ${tree.sched}`, [
        {title: "Entity or group", cell: (row) => indented({...row, name: row.parent === "" ? "all" : row.name})},
        {title: "By its shares", number: true, cell: (row) => percent(row.target)},
        {title: "Has had", number: true, cell: (row) => percent(row.actual)},
        {title: "", class: "wide", cell: (row) => meter(Math.min(1, row.actual))},
        {title: "Usage", number: true, cell: (row) => Math.round(row.usage).toLocaleString("en")},
        {title: "Place", number: true, cell: (row) => row.place ?? ""},
        {title: "Trend", cell: trend},
    ], tree.elements);
}

function usage(group, clock, now) {
    if (group.usage.length === 0)
        return h("p", {class: "hint"}, "No scheduler tells of usage by these shares: no policy goes by them, or users don't see the jobs of others.");
    return group.usage.map((tree) => [
        h("h3", {}, `Usage in scheduler ${tree.sched}`),
        h("p", {class: "hint"}, tree.next_decay ? `The next decay is ${clock.near(tree.next_decay, now)}.` : ""),
        usageTable(group, tree),
    ]);
}

function indented(row) {
    const name = h("span", {class: "tree"}, row.name === "unknown" && row.depth === 0 ? "all others" : row.name);
    name.style.paddingLeft = `${row.depth * 20}px`;
    return name;
}

function describe(group) {
    const line = (name, value) => value ? [h("dt", {}, name), h("dd", {}, value)] : null;
    return h("dl", {},
        line("Policies", group.policies.map((one) => one.fairshare ? one.policy : `${one.policy} (fairshare is off)`).join(", ") || "none"),
        line("Entity", group.entity), line("Usage", group.usage_formula || "cput"),
        line("Decay", group.decay_time && `times ${group.decay_factor} every ${group.decay_time}`),
        line("Without shares", group.enforce_no_shares ? "never run" : "run when nothing else does"), line("Comment", group.comment));
}

live("shares", {}, (json, clock) => {
    if (json.groups.length === 0) {
        update(page, "none", () => h("p", {class: "empty"}, "The server has no fs_group."));
        return;
    }
    if (page.dataset.key) page.replaceChildren();
    delete page.dataset.key;
    const names = json.groups.map((group) => group.name);
    for (const [name, {element}] of sections) {
        if (names.includes(name)) continue;
        element.remove();
        sections.delete(name);
    }
    json.groups.forEach((group, index) => {
        if (!sections.has(group.name)) sections.set(group.name, section(group.name, `group-${sections.size}-${index}`));
        const {element, body} = sections.get(group.name);
        if (!element.isConnected) page.append(element);
        update(body, group, () => [
            describe(group),
            table(`Shares of ${group.name}`, [
                {title: "Entity or group", cell: indented},
                {title: "Shares", number: true, cell: (row) => row.shares.toLocaleString("en")},
                {title: "Of the machine", number: true, cell: (row) => percent(row.part)},
                {title: "", class: "wide", cell: (row) => meter(row.part)},
            ], group.tree),
            usage(group, clock, json.time),
        ]);
    });
});

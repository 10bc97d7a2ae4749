// The page Shares.
import {h, section, table, update} from "./dom.js";
import {live} from "./live.js";

const page = document.getElementById("page");
const sections = new Map();

const percent = (part) => `${(part * 100).toLocaleString("en", {minimumFractionDigits: 1, maximumFractionDigits: 1})} %`;

// How much of the machine, as a bar from the left.
function meter(part) {
    const bar = h("i", {class: "running"});
    bar.style.flexGrow = part;
    const rest = h("i", {class: "rest"});
    rest.style.flexGrow = 1 - part;
    return h("span", {class: "bar", "aria-hidden": "true"}, bar, rest);
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

live("shares", {}, (json) => {
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
        ]);
    });
});

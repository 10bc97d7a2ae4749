// The page Changes: the history, and the difference between two revisions.
import {h, section, table, update} from "./dom.js";
import {ask, live} from "./live.js";

const query = new URLSearchParams(location.search);
const from = query.get("from") ?? "";
const to = query.get("to") ?? "";
const object = query.get("object") ?? "";
const page = document.getElementById("page");

const input = (id, value, attributes) => h("input", {id, name: id, value, autocomplete: "off", ...attributes});
const field = (id, label, value, attributes = {}) => [h("label", {for: id}, label), input(id, value, attributes)];
const number = {size: 7, inputmode: "numeric", pattern: "[0-9]*"};
page.append(h("div", {class: "forms"},
    h("form", {class: "form", method: "get", action: "changes"}, field("from", "Difference from revision", from, {...number, required: true}),
      field("to", "to", to, {...number, placeholder: "now"}), h("button", {class: "main"}, "Compare")),
    h("form", {class: "form", method: "get", action: "changes"}, field("object", "History of", object, {size: 20, placeholder: "policy p1"}),
      h("button", {}, "Show"), from || object ? h("a", {href: "changes"}, "All changes") : null)));

const who = (row) => row.host ? `${row.user}@${row.host}` : row.user;

function history() {
    const {element, body} = section(object ? `History of ${object}` : "History", "history");
    const shown = h("div", {});
    const more = h("button", {type: "button"}, "Earlier ones");
    body.append(shown, h("p", {class: "form"}, more));
    page.append(element);
    let latest = [];
    let earlier = [];
    let clock = null;
    const draw = () => {
        const rows = [...latest, ...earlier];
        // Show the difference of a whole change: its single revisions were never in force alone. Rows are in
        // descending order, so a change's first row has its last revision.
        const last = new Map();
        rows.forEach((row) => { if (!last.has(row.change)) last.set(row.change, row.revision); });
        more.hidden = rows.length === 0 || rows.at(-1).revision <= 1;
        update(shown, rows, () => table("Changes, the latest first", [
            {title: "Revision", cell: (row) => row.revision},
            {title: "Command", class: "break command mono", cell: (row) => row.command},
            {title: "Object", class: "break", cell: (row) => row.object},
            {title: "When", class: "nowrap", cell: (row) => clock.text(row.at)},
            {title: "Who", class: "nowrap", cell: who},
            {title: "", cell: (row) => h("a", {href: `changes?from=${row.change - 1}&to=${last.get(row.change)}`,
                                               "aria-label": `Difference that revision ${row.revision} made`}, "difference")},
        ], rows, "No change is known."));
    };
    more.addEventListener("click", async () => {
        const rows = [...latest, ...earlier];
        more.disabled = true;
        try {
            const json = await ask("changes", {object, before: rows.at(-1).revision});
            earlier = [...earlier, ...json.changes];
            draw();
            if (json.changes.length === 0) more.hidden = true;
        } finally {
            more.disabled = false;
        }
    });
    live("changes", {object}, (json, itsClock) => {
        clock = itsClock;
        // Keep rows that the new answer doesn't repeat: they are earlier ones now.
        const known = new Set(json.changes.map((row) => row.revision));
        earlier = [...latest, ...earlier].filter((row) => !known.has(row.revision));
        latest = json.changes;
        draw();
    });
}

function value(sign, text) {
    return h("div", {class: sign === "+" ? "added" : "removed"}, h("span", {class: "unseen"}, sign === "+" ? "now" : "before"), text);
}

function difference() {
    const {element, body} = section(`From revision ${from} to ${to || "now"}`, "difference");
    page.append(element);
    live("changes", {from, to}, (json) => update(body, json.difference, () => {
        const {objects, directives} = json.difference;
        if (objects.length === 0) return h("p", {class: "empty"}, "Nothing is different.");
        return [
            objects.map((one) => [
                h("h3", {}, one.object, one.created ? " (created)" : one.deleted ? " (deleted)" : ""),
                one.attributes.length === 0 ? null : h("div", {class: "diff"}, table(`What is different in ${one.object}`, [
                    {title: "Attribute", cell: (row) => row.name},
                    {title: "Value", class: "break mono", cell: (row) => [row.before === null ? null : value("-", row.before),
                                                                     row.after === null ? null : value("+", row.after)]},
                ], one.attributes)),
            ]),
            h("details", {}, h("summary", {}, "As directives of qmgr"), h("pre", {tabindex: 0}, directives)),
        ];
    }));
}

if (from) difference();
else history();

// The page What if: a comparison of two policies on the jobs of a month.
import {h, section, table, update} from "./dom.js";
import {complain, live} from "./live.js";
import {duration} from "./time.js";

const page = document.getElementById("page");
const ask = section("Compare", "ask");
const result = section("The last comparison", "result");
page.append(ask.element, result.element);

const select = (id, values, chosen) => h("select", {id, name: id}, values.map(
    (value) => h("option", {value, selected: value === chosen}, value)));
const labelled = (text, field) => [h("label", {for: field.id}, text), field];

function form(json) {
    const {months, policies, comparison} = json;
    const month = select("month", months, comparison?.month);
    const first = select("first", policies, comparison?.first);
    const second = select("second", [...policies, "changes below"], comparison ? comparison.second || "changes below" : policies[1]);
    const changes = h("textarea", {id: "changes", maxlength: 4096, spellcheck: "false",
                                   placeholder: "set policy default_policy strict_ordering=True"}, comparison?.changes ?? "");
    const box = h("p", {}, h("label", {for: "changes"}, "Directives of qmgr, which are tried and not carried out"), changes);
    const shown = () => { box.hidden = second.value !== "changes below"; };
    second.addEventListener("change", shown);
    shown();
    const running = comparison?.state === "running";
    return h("form", {onsubmit: async (event) => {
        event.preventDefault();
        const wanted = {month: month.value, first: first.value};
        if (second.value === "changes below") wanted.changes = changes.value;
        else wanted.second = second.value;
        const response = await fetch("what-if", {method: "POST", headers: {"Content-Type": "application/json"},
                                                 body: JSON.stringify(wanted)});
        const told = await response.json().catch(() => ({}));
        complain(response.ok ? null : told.error ?? `status ${response.status}`);
    }}, h("p", {class: "form"}, labelled("Month", month), labelled("Policy", first), labelled("with", second),
          h("button", {class: "main", disabled: running}, running ? "It runs" : "Compare")), box,
        h("p", {class: "hint"}, "The month's jobs go through the scheduling cycle by a clock that jumps. One comparison runs at a time, ",
          "with a low priority and for ten minutes at most; the server's configuration isn't changed."));
}

const kFigures = [
    ["Jobs started", (one) => one.started.toLocaleString("en")],
    ["Never started", (one) => one.never_started.toLocaleString("en")],
    ["Utilisation", (one) => `${(one.all.utilisation * 100).toFixed(1)} %`],
    ["Wait, mean", (one) => duration(one.all.wait.mean)],
    ["Wait, median", (one) => duration(one.all.wait.median)],
    ["Wait, 90 %", (one) => duration(one.all.wait.p90)],
    ["Wait, longest", (one) => duration(one.all.wait.max)],
    ["Bounded slowdown, mean", (one) => one.all.bounded_slowdown.mean.toFixed(1)],
    ["Wait in prime time, mean", (one) => duration(one.prime.wait.mean)],
    ["Wait in non-prime time, mean", (one) => duration(one.non_prime.wait.mean)],
];

// Rows that are shown only if either report has values for them.
const kMoreFigures = [
    ["Preemptions", "preemption", (told) => (told.suspended + told.checkpointed + told.requeued + told.deleted).toLocaleString("en")],
    ["CPU time lost by preemption", "preemption", (told) => duration(told.cpu_seconds_lost)],
    ["Time suspended, of all jobs", "preemption", (told) => duration(told.seconds_suspended)],
    ["First estimated start, off by (median)", "estimates", (told) => duration(told.first.off.median)],
    ["First estimated start, off by (90 %)", "estimates", (told) => duration(told.first.off.p90)],
];

function report({report: {trace, jobs, notes, simulations}}) {
    const more = kMoreFigures.filter(([, member]) => simulations.some((one) => one[member]))
        .map(([name, member, value]) => [name, (one) => one[member] ? value(one[member]) : "-"]);
    const rows = [...kFigures, ...more].map(([name, value]) => ({name, values: simulations.map(value)}));
    return [
        h("p", {}, `${jobs.toLocaleString("en")} jobs of ${trace}.`),
        table("Figures of both", [{title: "", cell: (row) => row.name},
            ...simulations.map((one, index) => ({title: one.title, number: true, cell: (row) => row.values[index]}))], rows),
        notes.length ? h("details", {}, h("summary", {}, "Notes"), h("ul", {}, notes.map((note) => h("li", {}, note)))) : null,
    ];
}

const kStates = {running: "It runs.", done: "It is done.", failed: "It failed."};

function last(comparison) {
    if (!comparison) return h("p", {class: "empty"}, "None was made since pbs_web started.");
    const second = comparison.second || "changes";
    return [
        h("p", {class: "lead", role: "status"}, `${comparison.first} and ${second} on ${comparison.month}: ${kStates[comparison.state]}`),
        comparison.error ? h("p", {class: "warn"}, comparison.error) : null,
        comparison.changes ? h("pre", {tabindex: 0}, comparison.changes) : null,
        comparison.report ? report(comparison) : null,
        comparison.plots ? h("p", {class: "plots"}, h("img", {src: `what-if.svg?${Date.now()}`,
            alt: "Utilisation and waiting jobs over time, the distribution of wait times, with a curve for each policy, and CPU use by group; the table above has the figures"})) : null,
    ];
}

live("what-if", {}, (json) => {
    update(ask.body, [json.months, json.policies, json.comparison?.state ?? ""], () => json.months_error ?
        h("p", {class: "warn"}, json.months_error) : json.months.length === 0 ?
        h("p", {class: "empty"}, "The server has no accounting yet.") : form(json));
    update(result.body, json.comparison, () => last(json.comparison));
});

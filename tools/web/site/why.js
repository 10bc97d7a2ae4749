// The page Why: about one job with ?job=, else a list of jobs.
import {h, plural, section, table, update} from "./dom.js";
import {live} from "./live.js";
import {PagedTable} from "./paged_table.js";
import {duration} from "./time.js";
import {jobState} from "./words.js";

const page = document.getElementById("page");
const wanted = new URLSearchParams(location.search).get("job") ?? "";

const field = h("input", {id: "job", name: "job", value: wanted, size: 24, autocomplete: "off", spellcheck: "false"});
page.append(h("form", {class: "form", method: "get", action: "why", role: "search"},
              h("label", {for: "job"}, "Job"), field, h("button", {class: "main"}, "Explain"),
              wanted ? h("a", {href: "why"}, "All jobs") : null));

const link = (job) => h("a", {href: `why?job=${encodeURIComponent(job.id)}`}, job.id);

function list() {
    const {element, body} = section("Jobs", "jobs");
    const note = h("div", {});
    let clock = null;
    let now = 0;
    const jobs = new PagedTable({
        title: "Jobs",
        open: true,
        label: "Id, name, owner or queue",
        text: (job) => `${job.id} ${job.name} ${job.owner} ${job.queue}`,
        columns: [
            {title: "Job", cell: link},
            {title: "Name", class: "break", cell: (job) => job.name},
            {title: "Owner", cell: (job) => job.owner.split("@")[0]},
            {title: "Queue", cell: (job) => job.queue},
            {title: "State", cell: (job) => jobState(job.state)},
            {title: "CPUs", number: true, cell: (job) => job.ncpus ?? ""},
            {title: "Walltime", number: true, cell: (job) => job.walltime === null ? "" : duration(job.walltime)},
            {title: "Start", cell: (job) => job.start ? clock.near(job.start, now) :
                job.estimated_start ? `expected ${clock.near(job.estimated_start, now)}` : ""},
        ],
    });
    body.append(note, jobs.element);
    page.append(element);
    live("why", {}, (json, itsClock) => {
        clock = itsClock;
        now = json.time;
        document.getElementById("jobs-title").textContent = plural(json.total_jobs, "job");
        update(note, [json.whole, json.total_jobs], () => json.whole ? [] : [h("p", {class: "hint"},
            "Of so many jobs, those that run and those that are expected to start are listed. Any job can be asked for by its id.")]);
        jobs.show(json.jobs);
    });
}

const kOutcomes = {
    starts: ["good", (told) => `A cycle now would start it in queue ${told.queue}.`],
    waits: ["", (told) => `It waits: ${told.reason}`],
    rejected: ["warn", (told) => `A cycle now would reject it: ${told.reason}`],
    "not considered": ["", (told) => `No cycle looks at it now: ${told.reason}`],
};

function chunks(told, clock, now) {
    const later = told.most > told.now && told.most_start !== undefined ? `; ${told.most} ${clock.near(told.most_start, now)}` : "";
    return `It may have ${told.range} chunks: ${told.now} now${later}.`;
}

function verdict(json, clock, now) {
    const told = json.explanation;
    if (!told) return h("p", {class: "lead"}, json.explanation_error);
    const [look, text] = kOutcomes[told.outcome] ?? ["", () => told.outcome];
    return [
        h("p", {class: `lead ${look}`}, text(told)),
        told.test_only ? h("p", {class: "warn"}, "test_only holds, now or by the earliest start: what a cycle decides is logged, and nothing of it is done.") : null,
        (told.preempts ?? []).map((other) => h("p", {}, `It preempts job ${other.job} (preempt_order ${other.methods}).`)),
        (told.missed ?? []).map((one) => h("p", {class: "hint"}, `It prefers ${one.preference}: not on ${one.vnodes}.`)),
        (told.queues ?? []).filter((queue) => queue.chunks).map((queue) => h("p", {}, chunks(queue.chunks, clock, now))),
        told.expected_start !== undefined ? h("p", {}, `It is expected to start ${clock.near(told.expected_start, now)}.`) : null,
        told.preempts_none ? h("p", {class: "hint"}, `It preempts no job: ${told.preempts_none}.`) : null,
    ];
}

function starts(told, clock, now) {
    const known = (told?.queues ?? []).filter((queue) => queue.earliest_start !== undefined);
    if (known.length === 0) return null;
    return table("Earliest start by queue", [
        {title: "Queue", cell: (queue) => queue.queue},
        {title: "Earliest start", cell: (queue) => clock.near(queue.earliest_start, now)},
        {title: "In", number: true, cell: (queue) => duration(queue.earliest_start - now)},
        {title: "When", class: "break", cell: (queue) => (queue.awaited ?? []).map(
            (awaited) => `${awaited.when} (${clock.near(awaited.until, now)})`).join(", then ")},
    ], known);
}

function gates(caption, list) {
    return table(caption, [
        {title: "Gate", cell: (gate) => gate.gate},
        {title: "Answer", cell: (gate) => gate.passes ? h("span", {class: "good"}, "passes") :
            h("span", {class: "warn"}, gate.decides ? "fails, and decides" : "fails")},
        {title: "Why", class: "break", cell: (gate) => gate.reason ?? ""},
        {title: "Set by", class: "break", cell: (gate) => gate.attributes ?? ""},
    ], list.map((gate) => ({...gate, class: gate.passes ? null : "fails"})), "No gate was asked.");
}

function order(told) {
    if (told?.place === undefined) return h("p", {class: "empty"}, "The job has no place: it isn't queued.");
    const rows = told.order.map((key) => (
        {name: key.key, value: key.value, first: key.largest_first ? "large first" : "small first", by: key.attributes ?? ""}));
    if (told.past_usage !== undefined)
        rows.push({name: "past usage", value: told.past_usage, first: "owners with little first", by: "sort_by_past_usage"});
    const before = told.job_before;
    for (const [i, term] of (told.priority_terms ?? []).entries())
        rows.push({name: `weight of ${term.term}`,
                   value: `${term.product.toPrecision(4)} = ${term.weight} * ${term.normalised.toPrecision(4)}: ${term.value} ` +
                          `between ${term.least} and ${term.greatest}` +
                          (before ? `; ${before.priority_terms[i]?.product.toPrecision(4)} of job ${before.job} before it` : ""),
                   first: "large sum first", by: "weighted_priority"});
    const shares = told.shares;
    if (shares !== undefined)
        rows.push({name: `share of ${shares.entity} in fs_group ${shares.fs_group}`,
                   value: `${(100 * shares.actual).toFixed(1)}% used, ${(100 * shares.target).toFixed(1)}% meant; ` +
                          `entity ${shares.place} of ${shares.entities}`,
                   first: "who is farthest below first", by: "fairshare"});
    return [
        h("p", {}, h("strong", {}, `Job ${told.place.toLocaleString("en")} of ${told.jobs.toLocaleString("en")}`),
          `; ${told.class_place} of ${told.class_jobs} in class ${told.class}.`),
        table("By what its place is found", [
            {title: "Key", cell: (row) => row.name}, {title: "Of this job", class: "break", cell: (row) => row.value},
            {title: "Order", cell: (row) => row.first}, {title: "Set by", cell: (row) => row.by},
        ], rows, "Jobs go in the order in which they came."),
    ];
}

const kInstants = {qtime: "Queued", etime: "Eligible since", Execution_Time: "Not before", obittime: "Ended"};
const kNames = {comment: "Comment", eligible_time: "Eligible for", Priority: "Priority", Account_Name: "Account",
                project: "Project", depend: "Depends on", Hold_Types: "Holds", Rerunable: "Rerunnable",
                array_state_count: "Subjobs", exec_vnode: "Runs on", run_count: "Runs so far", Exit_status: "Exit status"};

function facts(job, clock, now) {
    const line = (name, value) => value === "" || value === null ? null : [h("dt", {}, name), h("dd", {}, value)];
    const shown = Object.entries(job.attributes).filter(([name, value]) => name !== "Hold_Types" || value !== "n");
    const others = shown.map(([name, value]) => name in kInstants ?
        line(kInstants[name], Number(value) ? clock.near(Number(value), now) : value) : line(kNames[name] ?? name, value));
    return h("dl", {},
        line("Name", job.name), line("Owner", job.owner), line("State", jobState(job.state)), line("Queue", job.queue),
        line("Created", job.created && clock.near(job.created, now)),
        line("Started", job.start && clock.near(job.start, now)),
        line("Expected start", job.estimated_start && clock.near(job.estimated_start, now)), others);
}

function resources(caption, values) {
    return table(caption, [{title: "Resource", cell: ([name]) => name}, {title: caption, class: "break", cell: ([, value]) => value}],
                 Object.entries(values));
}

function one() {
    const sections = {
        verdict: section("What happens to it", "verdict"), gates: section("Gates", "gates"), order: section("Its place", "order"),
        facts: section("The job", "facts"), resources: section("Resources", "resources"),
    };
    page.append(sections.verdict.element, h("div", {class: "columns"}, sections.facts.element, sections.resources.element),
                sections.gates.element, sections.order.element);
    live("why", {job: wanted}, (json, clock) => {
        const {job, explanation: told} = json;
        const minute = Math.floor(json.time / 60);
        document.querySelector("h1").textContent = `Why: ${job.id}`;
        document.title = `${job.id} - PBS`;
        update(sections.verdict.body, [told, json.explanation_error, minute], () => [
            verdict(json, clock, json.time),
            told?.policy ? h("p", {}, `Scheduler ${told.sched}, policy ${told.policy} (${told.sched_algorithm}).`) : null,
            starts(told, clock, json.time),
        ]);
        update(sections.facts.body, [job, minute], () => facts(job, clock, json.time));
        update(sections.resources.body, [job.asked, job.used], () => [
            resources("Asked for", job.asked), Object.keys(job.used).length ? resources("Used", job.used) : null]);
        update(sections.gates.body, [told?.gates, told?.queues], () => !told ? [] : [
            h("h3", {}, "The job itself"), gates("Gates of the job itself", told.gates),
            told.queues.map((queue) => [h("h3", {}, `Queue ${queue.queue}`), gates(`Gates of queue ${queue.queue}`, queue.gates)]),
        ]);
        update(sections.order.body, [told?.order, told?.place, told?.jobs, told?.past_usage, told?.shares, told?.priority_terms, told?.job_before], () => order(told));
    });
}

if (wanted) one();
else list();

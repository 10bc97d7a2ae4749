// Draws bars over time on rows of vnodes or queues. Only the visible part is drawn, so that ten thousand rows
// scroll like ten.
import {colour, h, legend, paper, redraw} from "./dom.js";
import {duration} from "./time.js";
import {spanText} from "./words.js";

const kHead = 40;
const kZooms = [["6 h", 6 * 3600], ["1 day", 86400], ["3 days", 3 * 86400], ["1 week", 7 * 86400]];
const kTicks = [900, 1800, 3600, 2 * 3600, 6 * 3600, 12 * 3600, 86400];

export class Gantt {
    constructor(body) {
        this.bars = [];
        this.rows = [];
        this.by = "vnodes";
        this.span = 86400;
        this.chosen = -1;
        this.canvas = h("canvas", {tabindex: 0, role: "application", "aria-describedby": "gantt-chosen",
            "aria-label": "Gantt chart; arrow keys go through jobs in the order of their starts, Enter opens one"});
        this.space = h("div", {class: "gantt-space"});
        this.scroller = h("div", {class: "gantt"}, this.canvas, this.space);
        this.status = h("p", {class: "chosen", id: "gantt-chosen", role: "status"}, "Point at a bar, or use the arrow keys.");
        const choices = (label, list, is, set) => {
            const buttons = list.map(([title, value]) => h("button", {type: "button", "aria-pressed": String(is(value)), onclick: () => {
                set(value);
                buttons.forEach((button, index) => button.setAttribute("aria-pressed", String(is(list[index][1]))));
            }}, title));
            return h("span", {class: "group", role: "group", "aria-label": label}, buttons);
        };
        body.append(h("div", {class: "form"},
            choices("Rows", [["Vnodes", "vnodes"], ["Queues", "queues"]], (value) => value === this.by, (value) => {
                this.by = value;
                this.arrange();
            }),
            choices("Width", kZooms, (value) => value === this.span, (value) => this.zoom(value)),
            h("button", {type: "button", onclick: () => this.toNow()}, "Now"),
            legend(["running", "running"], ["expected", "expected"], ["reserved", "reservation"], ["prime", "prime time"],
                   ["dedicated", "dedicated time"])),
            this.scroller, this.status);
        this.draw = redraw(this.scroller, () => this.paint());
        this.scroller.addEventListener("scroll", this.draw, {passive: true});
        this.canvas.addEventListener("pointermove", (event) => this.point(event));
        this.canvas.addEventListener("click", (event) => {
            this.point(event);
            this.open();
        });
        this.canvas.addEventListener("keydown", (event) => this.key(event));
    }

    show(json, bars, clock) {
        const first = !this.json;
        const id = this.bars[this.chosen]?.id;
        Object.assign(this, {json, bars, clock});
        this.chosen = id === undefined ? -1 : bars.findIndex((bar) => bar.id === id);
        this.arrange();
        if (first) this.toNow();
    }

    // Height of a row: few rows are higher than many.
    get high() { return this.rows.length <= 12 ? 32 : this.rows.length <= 200 ? 22 : 16; }
    // Width of the names at the left.
    get names() { return Math.min(160, Math.max(84, this.scroller.clientWidth * 0.16)); }
    get scale() { return Math.max(50, this.scroller.clientWidth - this.names) / this.span; }

    // Returns a bar's end; a job that runs on without a known end is shown until ten minutes from now.
    end(bar) { return bar.to === null || bar.to <= this.json.time && bar.kind === "running" ? Math.max(bar.to ?? 0, this.json.time + 600) : bar.to; }

    // Assigns bars to rows, and to lanes where they overlap.
    arrange() {
        if (!this.json) return;
        this.rows = this.by === "vnodes" ? this.rowsOfVnodes() : this.rowsOfQueues();
        this.resize();
    }
    rowsOfVnodes() {
        const rows = this.json.vnodes.names.map((name, index) => ({name, note: `${this.json.vnodes.ncpus[index]} CPUs`, bars: [], lanes: 1}));
        this.bars.forEach((bar, index) => bar.vnodes.forEach(([row]) => rows[row]?.bars.push({index, lane: 0})));
        rows.forEach((row) => { row.lanes = Math.max(1, this.lanes(row.bars)); });
        return rows;
    }
    rowsOfQueues() {
        const queues = new Map();
        this.bars.forEach((bar, index) => {
            const name = bar.queue ?? "reservations";
            if (!queues.has(name)) queues.set(name, []);
            queues.get(name).push({index, lane: 0});
        });
        return [...queues].sort(([a], [b]) => a < b ? -1 : 1).flatMap(([name, bars]) => {
            const lanes = this.lanes(bars);
            return Array.from({length: lanes}, (_, lane) => (
                {name: lane === 0 ? name : "", note: "", lanes: 1, bars: bars.filter((bar) => bar.lane === lane).map(({index}) => ({index, lane: 0}))}));
        });
    }
    // Gives each bar the first free lane; bars come in the order of their beginnings.
    lanes(bars) {
        const ends = [];
        for (const bar of bars) {
            const {from} = this.bars[bar.index];
            let lane = ends.findIndex((end) => end <= from);
            if (lane < 0) lane = ends.length;
            ends[lane] = this.end(this.bars[bar.index]);
            bar.lane = lane;
        }
        return ends.length;
    }

    resize() {
        this.space.style.width = `${this.names + (this.json.to - this.json.from) * this.scale}px`;
        this.space.style.height = `${kHead + this.rows.length * this.high}px`;
        this.scroller.style.maxHeight = `${kHead + this.rows.length * this.high + 20}px`;
        this.draw();
    }
    zoom(span) {
        const left = this.json ? this.json.from + this.scroller.scrollLeft / this.scale : 0;
        this.span = span;
        if (!this.json) return;
        this.resize();
        this.scroller.scrollLeft = (left - this.json.from) * this.scale;
    }
    toNow() {
        if (!this.json) return;
        this.resize();
        this.scroller.scrollLeft = (this.json.time - this.span * 0.15 - this.json.from) * this.scale;
    }

    paint() {
        if (!this.json) return;
        const width = this.scroller.clientWidth;
        const height = this.scroller.clientHeight;
        if (this.width !== width) {
            this.width = width;
            this.resize();
        }
        const context = paper(this.canvas, width, height);
        const look = Object.fromEntries(["surface", "text", "muted", "line", "accent", "prime", "dedicated", "held", "sunken", "on-accent", "down"].map(
            (name) => [name, colour(name)]));
        context.font = `12px ${getComputedStyle(document.body).fontFamily}`;
        context.textBaseline = "middle";
        const left = this.json.from + this.scroller.scrollLeft / this.scale;
        const x = (at) => this.names + (at - left) * this.scale;
        const top = this.scroller.scrollTop;
        const high = this.high;
        const first = Math.max(0, Math.floor(top / this.high));
        const last = Math.min(this.rows.length, Math.ceil((top + height - kHead) / this.high));
        const view = {context, look, x, left, right: left + (width - this.names) / this.scale, width, height};

        context.save();
        context.beginPath();
        context.rect(this.names, 0, width, height);
        context.clip();
        this.paintBackground(view);
        this.paintTicks(view, kHead, height);
        context.fillStyle = look.line;
        for (let row = first; row < last; ++row) context.fillRect(this.names, kHead + (row + 1) * high - top - 1, width, 0.5);
        for (let row = first; row < last; ++row) this.paintRow(view, this.rows[row], kHead + row * this.high - top);
        this.paintHead(view);
        const now = x(this.json.time);
        context.fillStyle = look.down;
        context.fillRect(Math.round(now), 20, 1.5, height);
        context.restore();

        context.fillStyle = look.surface;
        context.fillRect(0, 0, this.names, height);
        context.fillStyle = look.line;
        context.fillRect(this.names - 1, 0, 1, height);
        context.save();
        context.beginPath();
        context.rect(0, kHead, this.names - 8, height);
        context.clip();
        for (let row = first; row < last; ++row) {
            context.fillStyle = look.text;
            context.fillText(this.rows[row].name, 8, kHead + row * this.high - top + this.high / 2);
        }
        context.restore();
    }

    paintBackground({context, look, x, left, right, height}) {
        for (const kind of ["prime_time", "dedicated_time"]) {
            context.fillStyle = kind === "prime_time" ? look.prime : look.dedicated;
            for (const span of this.json.background) {
                if (span.kind !== kind || span.to < left || span.from > right) continue;
                context.fillRect(x(span.from), kHead, (span.to - span.from) * this.scale, height);
            }
        }
    }

    // Calls each(day, ticks) for the visible days, with as many hours as fit.
    eachDay(left, right, each) {
        const step = kTicks.find((tick) => tick * this.scale >= 44) ?? 86400;
        for (let at = this.clock.midnight(left); at < right;) {
            const next = this.clock.midnight(at + 86400 + 7200);
            each(at, Array.from({length: Math.ceil((next - at) / step)}, (_, index) => at + index * step), step);
            at = next;
        }
    }
    paintTicks({context, look, x, left, right}, from, to) {
        context.fillStyle = look.line;
        this.eachDay(left, right, (_, ticks) => ticks.forEach((tick) => context.fillRect(Math.round(x(tick)), from, 1, to - from)));
    }
    // Draws the time axis above the bars.
    paintHead(view) {
        const {context, look, x, left, right, width} = view;
        context.fillStyle = look.surface;
        context.fillRect(0, 0, width, kHead);
        this.paintTicks(view, 22, kHead);
        const holidays = this.json.background.filter((span) => span.kind === "non_work_day");
        this.eachDay(left, right, (day, ticks, step) => {
            context.fillStyle = look.muted;
            if (step < 86400) ticks.forEach((tick) => context.fillText(this.clock.hm(tick), Math.round(x(tick)) + 4, 31));
            const holiday = holidays.find((span) => span.from <= day + 43200 && span.to > day + 43200);
            context.fillStyle = look.line;
            context.fillRect(Math.round(x(day)), 0, 1, kHead);
            context.fillStyle = look.text;
            context.fillText(this.clock.day(day) + (holiday ? `, ${spanText(holiday)}` : ""), Math.max(x(day), this.names) + 4, 11);
        });
        context.fillStyle = look.line;
        context.fillRect(0, kHead - 1, width, 1);
    }

    paintRow(view, row, y) {
        const {context, look, x, left, right} = view;
        const high = (this.high - 2) / row.lanes;
        for (const {index, lane} of row.bars) {
            const bar = this.bars[index];
            const end = this.end(bar);
            if (end < left || bar.from > right) continue;
            const from = Math.max(x(bar.from), this.names - 4);
            const wide = Math.max(1, Math.min(x(end), view.width + 4) - from - 1);
            const at = y + 1 + lane * high;
            const tall = Math.max(1, high - (row.lanes > 4 ? 0 : 1));
            const same = index === this.chosen;
            if (bar.kind === "running") {
                context.fillStyle = same ? look.text : look.accent;
                context.fillRect(from, at, wide, tall);
            } else {
                context.fillStyle = bar.kind === "reservation" ? look.held : look.surface;
                context.fillRect(from, at, wide, tall);
                context.strokeStyle = same ? look.text : bar.kind === "reservation" ? look.muted : look.accent;
                context.lineWidth = same ? 2 : 1;
                context.setLineDash(bar.kind === "expected" ? [4, 3] : []);
                context.strokeRect(from + 0.5, at + 0.5, Math.max(1, wide - 1), Math.max(1, tall - 1));
                context.setLineDash([]);
            }
            if (wide > 48 && tall > 11) {
                context.save();
                context.beginPath();
                context.rect(from, at, wide - 4, tall);
                context.clip();
                context.fillStyle = bar.kind === "running" ? (same ? look.surface : look["on-accent"]) : look.text;
                context.fillText(`${bar.id.split(".")[0]} ${bar.name}`, Math.max(from, this.names) + 4, at + tall / 2 + 0.5);
                context.restore();
            }
        }
    }

    // Returns the bar under the pointer.
    barAt(event) {
        if (!this.json || event.offsetX < this.names || event.offsetY < kHead) return -1;
        const y = event.offsetY - kHead + this.scroller.scrollTop;
        const row = this.rows[Math.floor(y / this.high)];
        if (!row) return -1;
        const at = this.json.from + (event.offsetX - this.names + this.scroller.scrollLeft) / this.scale;
        const lane = Math.min(row.lanes - 1, Math.floor((y % this.high) / ((this.high - 2) / row.lanes)));
        return row.bars.find((one) => {
            const bar = this.bars[one.index];
            return one.lane === lane && bar.from <= at && this.end(bar) >= at;
        })?.index ?? -1;
    }
    point(event) {
        const index = this.barAt(event);
        this.canvas.style.cursor = index >= 0 ? "pointer" : "";
        if (index >= 0) this.choose(index);
    }
    key(event) {
        if (event.key === "Enter") return this.open();
        const by = {ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1}[event.key];
        if (by === undefined || this.bars.length === 0) return;
        event.preventDefault();
        this.choose((this.chosen + by + this.bars.length) % this.bars.length);
        this.reveal();
    }
    reveal() {
        const row = this.rows.findIndex(({bars}) => bars.some(({index}) => index === this.chosen));
        if (row < 0) return;
        const high = this.scroller.clientHeight - kHead;
        if (row * this.high < this.scroller.scrollTop || (row + 1) * this.high > this.scroller.scrollTop + high)
            this.scroller.scrollTop = row * this.high - high / 2;
        const bar = this.bars[this.chosen];
        const left = this.json.from + this.scroller.scrollLeft / this.scale;
        if (this.end(bar) < left || bar.from > left + this.span)
            this.scroller.scrollLeft = (bar.from - this.span * 0.15 - this.json.from) * this.scale;
    }
    open() {
        const bar = this.bars[this.chosen];
        if (bar && bar.kind !== "reservation") location.href = `why?job=${encodeURIComponent(bar.id)}`;
    }
    choose(index) {
        if (index !== this.chosen) {
            this.chosen = index;
            this.draw();
        }
        const bar = this.bars[index];
        const until = bar.to === null ? "without an end" : `until ${this.clock.near(bar.to, this.json.time)}, ${duration(bar.to - bar.from)}`;
        const names = bar.vnodes.slice(0, 3).map(([row]) => this.json.vnodes.names[row]).join(", ");
        const where = bar.vnodes.length ? ` on ${names}${bar.vnodes.length > 3 ? ` and ${bar.vnodes.length - 3} more` : ""}` : "";
        this.status.textContent = `${bar.id} ${bar.name} (${bar.owner.split("@")[0]}), ${bar.kind}${where}: from ${
            this.clock.near(bar.from, this.json.time)} ${until}`;
    }
}

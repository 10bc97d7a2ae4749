// Shows vnodes as a map of cells: how much of each is in use, and which aren't available. Beside it a table
// of sums, and one of the vnodes in parts.
import {colour, h, paper, redraw, table, update} from "./dom.js";
import {PagedTable} from "./paged_table.js";
import {kVnodeKinds, vnodeKind} from "./words.js";

export class VnodeMap {
    constructor(body) {
        this.vnodes = {names: [], states: [], ncpus: [], ncpus_used: [], state_words: []};
        this.kinds = [];
        this.at = 0;
        this.sums = h("div", {});
        this.canvas = h("canvas", {tabindex: 0, role: "application", "aria-label": "Map of vnodes; arrow keys choose one",
                                   "aria-describedby": "vnode-chosen"});
        this.chosen = h("p", {class: "chosen", id: "vnode-chosen", role: "status"}, "Point at a cell, or use the arrow keys.");
        this.frame = h("div", {class: "map"}, this.canvas);
        this.list = new PagedTable({
            title: "Vnodes as a table",
            label: "Name or state",
            text: (row) => `${row.name} ${row.state}`,
            columns: [{title: "Vnode", cell: (row) => row.name}, {title: "State", cell: (row) => row.state},
                      {title: "CPUs in use", number: true, cell: (row) => row.used},
                      {title: "CPUs", number: true, cell: (row) => row.cpus}],
        });
        body.append(h("div", {class: "map-and-sums"}, h("div", {}, this.frame, this.chosen), this.sums),
                    this.list.element);
        this.draw = redraw(this.frame, () => this.paint());
        this.canvas.addEventListener("pointermove", (event) => this.choose(this.cellAt(event)));
        this.canvas.addEventListener("keydown", (event) => this.key(event));
        this.canvas.addEventListener("focus", () => this.choose(this.at));
        this.canvas.addEventListener("blur", () => this.draw());
    }

    show(vnodes) {
        this.vnodes = vnodes;
        this.kinds = vnodes.names.map((_, index) => vnodeKind(vnodes.state_words[vnodes.states[index]],
                                                              vnodes.ncpus_used[index], vnodes.ncpus[index]));
        this.at = Math.min(this.at, Math.max(0, vnodes.names.length - 1));
        this.draw();
        this.showSums();
        this.list.show(vnodes.names.map((name, index) => (
            {name, state: vnodes.state_words[vnodes.states[index]], used: vnodes.ncpus_used[index], cpus: vnodes.ncpus[index]})));
    }

    showSums() {
        const rows = Object.keys(kVnodeKinds).map((kind) => ({kind, count: 0, used: 0, cpus: 0}));
        const all = {kind: "all", count: 0, used: 0, cpus: 0, class: "total"};
        this.kinds.forEach((kind, index) => {
            for (const row of [rows.find((one) => one.kind === kind), all]) {
                row.count += 1;
                row.used += this.vnodes.ncpus_used[index];
                row.cpus += this.vnodes.ncpus[index];
            }
        });
        const number = (value) => value.toLocaleString("en");
        update(this.sums, [rows, all], () => table("Vnodes by state", [
            {title: "State", cell: (row) => row.kind === "all" ? "All" :
                [h("span", {class: `key ${row.kind}`, "aria-hidden": "true"}), kVnodeKinds[row.kind]]},
            {title: "Vnodes", number: true, cell: (row) => number(row.count)},
            {title: "CPUs in use", number: true, cell: (row) => number(row.used)},
            {title: "CPUs", number: true, cell: (row) => number(row.cpus)},
        ], [...rows.filter((row) => row.count > 0), all]));
    }

    // Lays out the cells in a width.
    layout() {
        const count = this.vnodes.names.length;
        const step = count > 3000 ? 9 : count > 500 ? 13 : count > 60 ? 20 : 32;
        const width = Math.max(step, this.frame.clientWidth);
        const across = Math.max(1, Math.floor(width / step));
        return {step, across, width, height: Math.max(1, Math.ceil(count / across)) * step};
    }

    paint() {
        const {step, across, width, height} = this.layout();
        const context = paper(this.canvas, width, height);
        const size = step - (step > 12 ? 3 : 2);
        const colours = Object.fromEntries(
            ["cell", "accent", "offline", "down", "text"].map((name) => [name, colour(name)]));
        this.kinds.forEach((kind, index) => {
            const x = (index % across) * step;
            const y = Math.floor(index / across) * step;
            context.fillStyle = colours[kind] ?? colours.cell;
            context.fillRect(x, y, size, size);
            if (kind === "some" || kind === "busy") {
                const share = Math.min(1, this.vnodes.ncpus_used[index] / Math.max(1, this.vnodes.ncpus[index]));
                const part = Math.max(1, Math.round(size * share));
                context.fillStyle = colours.accent;
                context.fillRect(x, y + size - part, size, part);
            } else if (kind === "down" || kind === "offline") {
                // Mark the state by a pattern too, not by colour alone.
                context.strokeStyle = colours.cell;
                context.lineWidth = 1;
                context.beginPath();
                context.moveTo(x, y + size);
                context.lineTo(x + size, y);
                if (kind === "down") {
                    context.moveTo(x, y);
                    context.lineTo(x + size, y + size);
                }
                context.stroke();
            }
        });
        if (document.activeElement === this.canvas || this.pointed) {
            context.strokeStyle = colours.text;
            context.lineWidth = 2;
            context.strokeRect((this.at % across) * step - 1, Math.floor(this.at / across) * step - 1, size + 2, size + 2);
        }
    }

    cellAt(event) {
        const {step, across} = this.layout();
        const column = Math.floor(event.offsetX / step);
        this.pointed = true;
        return column < across ? Math.floor(event.offsetY / step) * across + column : -1;
    }

    key(event) {
        const {across} = this.layout();
        const by = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -across, ArrowDown: across,
                    Home: -this.at, End: this.kinds.length - 1 - this.at}[event.key];
        if (by === undefined) return;
        event.preventDefault();
        this.choose(this.at + by);
    }

    choose(index) {
        if (index < 0 || index >= this.kinds.length) return;
        this.at = index;
        const {names, ncpus, ncpus_used: used, states, state_words: words} = this.vnodes;
        this.chosen.textContent = `${names[index]}: ${words[states[index]]}, ${used[index]} of ${ncpus[index]} CPUs in use`;
        this.draw();
    }
}

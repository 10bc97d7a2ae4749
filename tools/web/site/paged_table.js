// A long table, shown in parts, with a field to search rows. Its rows are made when it is opened.
import {h, table, update} from "./dom.js";

const kPart = 100;
let count = 0;

export class PagedTable {
    // The field searches in `text(row)`.
    constructor({title, columns, text, label, open = false}) {
        Object.assign(this, {title, columns, text, rows: [], wanted: "", part: 0});
        const id = `search-${++count}`;
        this.list = h("div", {});
        const search = h("input", {type: "search", id, autocomplete: "off", oninput: (event) => {
            this.wanted = event.target.value.toLowerCase();
            this.part = 0;
            this.draw();
        }});
        this.element = h("details", {open, ontoggle: () => this.draw()}, h("summary", {}, title),
                         h("p", {class: "form"}, h("label", {for: id}, label), search), this.list);
    }

    show(rows) {
        this.rows = rows;
        this.draw();
    }

    draw() {
        if (!this.element.open) return;
        const rows = this.wanted ? this.rows.filter((row) => this.text(row).toLowerCase().includes(this.wanted)) : this.rows;
        const parts = Math.max(1, Math.ceil(rows.length / kPart));
        this.part = Math.min(this.part, parts - 1);
        const shown = rows.slice(this.part * kPart, (this.part + 1) * kPart);
        const turn = (by) => () => { this.part += by; this.draw(); };
        update(this.list, [shown, this.part, parts], () => [
            table(this.title, this.columns, shown, this.wanted ? "Nothing fits." : "None."),
            parts > 1 ? h("p", {class: "form"},
                h("button", {type: "button", disabled: this.part === 0, onclick: turn(-1)}, "Before"),
                h("span", {}, `${this.part + 1} of ${parts}`),
                h("button", {type: "button", disabled: this.part === parts - 1, onclick: turn(1)}, "Next")) : null,
        ]);
    }
}

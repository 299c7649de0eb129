"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const status = document.getElementById("status");
  const say = (text) => { status.textContent = text; };

  // Light, dark, or what the system says; remembered where the browser allows it.
  const theme = document.getElementById("theme");
  const choices = ["system", "light", "dark"];
  const memory = {
    get() { try { return localStorage.getItem("symmf-theme"); } catch { return null; } },
    set(value) { try { localStorage.setItem("symmf-theme", value); } catch { /* private */ } },
  };
  const paint = (choice) => {
    if (choice === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = choice;
    theme.textContent = `Theme: ${choice}`;
  };
  let current = choices.includes(memory.get()) ? memory.get() : "system";
  paint(current);
  theme.hidden = false;
  theme.addEventListener("click", () => {
    current = choices[(choices.indexOf(current) + 1) % choices.length];
    memory.set(current);
    paint(current);
  });

  // Sorting: numbers by value, words by letters, empty cells always last.
  const shown = (cell, view) => {
    if (!view || view === "ours") return cell.dataset.value ?? cell.textContent.trim();
    const part = cell.querySelector(`.v-${view}`);
    return part ? part.textContent.trim() : cell.textContent.trim();
  };
  const compare = (a, b, sign) => {
    const empty = (text) => text === "" || text === "–";
    if (empty(a) || empty(b)) return empty(a) - empty(b);
    const x = Number(a), y = Number(b);
    if (!Number.isNaN(x) && !Number.isNaN(y)) return sign * (x - y);
    return sign * a.localeCompare(b, "en", { numeric: true });
  };
  const sort = (table, button) => {
    const head = button.closest("th");
    const down = head.getAttribute("aria-sort") === "ascending"
      || (head.getAttribute("aria-sort") === "none" && head.classList.contains("num"));
    all("th[aria-sort]", table).forEach((th) => th.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const column = Number(button.dataset.column);
    const view = table.dataset.view;
    for (const body of table.tBodies) {
      const rows = [...body.rows].map((row) => [shown(row.cells[column], view), row]);
      rows.sort((a, b) => compare(a[0], b[0], down ? -1 : 1));
      body.append(...rows.map(([, row]) => row));
    }
    say(`Sorted by ${button.textContent}, ${down ? "descending" : "ascending"}.`);
  };
  for (const table of all("table.sortable")) {
    table.tHead.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (button) sort(table, button);
    });
  }

  // Filtering: every word must occur, every chosen value must be equal.
  for (const box of all(".filters")) {
    const table = document.getElementById(box.dataset.table);
    const rows = [...table.tBodies[0].rows];
    const search = box.querySelector("input");
    const selects = all("select", box);
    const count = box.querySelector("output");
    const apply = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let n = 0;
      for (const row of rows) {
        const text = row.textContent.toLowerCase();
        const fits = words.every((word) => text.includes(word))
          && selects.every((s) => !s.value
            || row.cells[Number(s.dataset.column)].textContent.trim() === s.value);
        row.hidden = !fits;
        n += fits;
      }
      count.textContent = n === rows.length ? `${n} lines` : `${n} of ${rows.length} lines`;
    };
    box.addEventListener("input", apply);
    box.hidden = false;
  }

  // Ours, published or difference in the score tables.
  for (const box of all(".views")) {
    const table = document.getElementById(box.dataset.table);
    box.addEventListener("click", (event) => {
      const button = event.target.closest("button");
      if (!button) return;
      table.dataset.view = button.dataset.view;
      all("button", box).forEach((b) => b.setAttribute("aria-pressed", b === button));
      say(`Showing: ${button.textContent}.`);
    });
    box.hidden = false;
  }

  // The numbers of a point, on hover or tap; the table below a figure has them all.
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  const point = (event) => {
    const use = event.target.closest?.(".canvas use");
    const title = use?.querySelector("title");
    tip.hidden = !title;
    if (!title) return;
    tip.textContent = title.textContent;
    const { innerWidth: width } = window;
    tip.style.left = `${Math.min(event.clientX + 12, width - tip.offsetWidth - 8)}px`;
    tip.style.top = `${event.clientY + 14}px`;
  };
  document.addEventListener("pointermove", point);
  document.addEventListener("pointerdown", point);

  // Claims and experiments are printed in full.
  window.addEventListener("beforeprint", () => {
    all(".claim details, .missing").forEach((d) => { d.open = true; });
  });
})();

"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const status = document.getElementById("status");
  const say = (text) => { status.textContent = text; };

  // Light, dark, or what the system says; made_once where the browser allows it.
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
  const compare = (a, b, numeric, sign) => {
    const x = parseFloat(a), y = parseFloat(b);
    const empty = (text, value) => text === "" || text === "–" || (numeric && Number.isNaN(value));
    if (empty(a, x) || empty(b, y)) return empty(a, x) - empty(b, y);
    if (numeric) return sign * (x - y);
    return sign * a.localeCompare(b, "en", { numeric: true });
  };
  const sort = (table, button) => {
    const head = button.closest("th");
    const numeric = head.classList.contains("num");
    const down = head.getAttribute("aria-sort") === "ascending"
      || (head.getAttribute("aria-sort") === "none" && numeric);
    all("th[aria-sort]", table).forEach((th) => th.setAttribute("aria-sort", "none"));
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const column = Number(button.dataset.column);
    const view = table.dataset.view;
    for (const body of table.tBodies) {
      const rows = [...body.rows].map((row) => [shown(row.cells[column], view), row]);
      rows.sort((a, b) => compare(a[0], b[0], numeric, down ? -1 : 1));
      body.append(...rows.map(([, row]) => row));
    }
    fold(table);
    say(`Sorted by ${button.textContent}, ${down ? "descending" : "ascending"}.`);
  };

  // A long table begins with its first rows and says how many follow.
  const FIRST_ROWS = 25;
  const fold = (table) => {
    const button = document.querySelector(`.more[data-table="${table.id}"]`);
    if (!button) return;
    const fitting = [...table.tBodies[0].rows].filter((row) => !row.classList.contains("out"));
    const open = button.getAttribute("aria-expanded") === "true";
    for (const row of table.tBodies[0].rows) row.hidden = row.classList.contains("out");
    fitting.forEach((row, index) => {
      row.classList.toggle("folded", index >= FIRST_ROWS);
      row.hidden = !open && index >= FIRST_ROWS;
    });
    const more = fitting.length - FIRST_ROWS;
    button.hidden = more <= 0;
    button.textContent = open ? `Show the first ${FIRST_ROWS} rows only`
      : `Show all ${fitting.length} rows (${more} more)`;
  };
  for (const button of all(".more")) {
    const table = document.getElementById(button.dataset.table);
    button.setAttribute("aria-expanded", "false");
    button.addEventListener("click", () => {
      const open = button.getAttribute("aria-expanded") === "true";
      button.setAttribute("aria-expanded", String(!open));
      fold(table);
    });
    fold(table);
  }

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
        row.classList.toggle("out", !fits);
        n += fits;
      }
      fold(table);
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
      if ("std" in button.dataset) {
        const on = button.getAttribute("aria-pressed") !== "true";
        button.setAttribute("aria-pressed", on);
        table.toggleAttribute("data-std", on);
        say(on ? "Standard deviations are shown." : "Standard deviations are hidden.");
        return;
      }
      table.dataset.view = button.dataset.view;
      all("[data-view]", box).forEach((b) => b.setAttribute("aria-pressed", b === button));
      say(`Showing: ${button.textContent}.`);
    });
    box.hidden = false;
  }

  // The trials behind a value: all scores on hover, with their keys on click.
  const trials = JSON.parse(document.getElementById("trials-data").textContent);
  const dialog = document.getElementById("trials");
  const metricOf = (button) => {
    const table = button.closest("table");
    if (table.dataset.metric) return table.dataset.metric === "nmi" ? "NMI" : "AC";
    return button.closest("tr").cells[0].textContent.trim();
  };
  const scoresOf = (button) => {
    const place = metricOf(button) === "NMI" ? 2 : 3;
    return (trials[button.dataset.cell] ?? [])
      .map((line) => ({ trial: line[0], key: line[1], value: line[place] }))
      .filter((score) => score.value !== null);
  };
  const element = (name, parent, attributes = {}, text = "") => {
    const svg = ["svg", "line", "circle", "text"].includes(name);
    const made = svg ? document.createElementNS("http://www.w3.org/2000/svg", name)
      : document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    if (text) made.textContent = text;
    parent.append(made);
    return made;
  };
  const strip = (box, values) => {
    box.replaceChildren();
    const low = Math.min(...values), high = Math.max(...values);
    const from = Math.max(0, low - 0.02), to = Math.min(1, high + 0.02);
    const x = (value) => 20 + 460 * (value - from) / (to - from || 1);
    const svg = element("svg", box, { viewBox: "0 0 500 46" });
    element("line", svg, { x1: 20, x2: 480, y1: 24, y2: 24, stroke: "var(--line)" });
    for (const value of values) {
      element("circle", svg, { cx: x(value), cy: 24, r: 5, fill: "var(--accent)", "fill-opacity": 0.55 });
    }
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    element("line", svg, { x1: x(mean), x2: x(mean), y1: 10, y2: 38, stroke: "currentColor", "stroke-width": 2 });
    for (const [value, anchor] of [[from, "start"], [to, "end"]]) {
      element("text", svg, { x: x(value), y: 45, "text-anchor": anchor, "font-size": 11, fill: "var(--quiet)" }, value.toFixed(2));
    }
  };
  const show = (button) => {
    const scores = scoresOf(button);
    if (!scores.length) return;
    const [experiment, method, k] = button.dataset.cell.split("|");
    const metric = metricOf(button);
    dialog.querySelector("h2").textContent = `${metric}, ${method}, K = ${k}`;
    dialog.querySelector("p").textContent =
      `${scores.length} trials of the experiment ${experiment}; the line is their mean.`;
    dialog.querySelector("th.num").textContent = metric;
    const body = dialog.querySelector("tbody");
    body.replaceChildren();
    for (const score of scores) {
      const row = element("tr", body);
      element("td", row, {}, String(score.trial));
      element("td", row, { class: "num" }, score.value.toFixed(3));
      element("code", element("td", row), {}, score.key ? `symmf info ${score.key}` : "–");
    }
    strip(dialog.querySelector(".strip"), scores.map((score) => score.value));
    dialog.showModal();
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-cell]");
    if (button) show(button);
    else if (event.target === dialog) dialog.close();
  });

  // Figures fit the screen; on a narrow one they can be enlarged and moved.
  for (const button of all(".enlarge")) {
    button.hidden = false;
    button.addEventListener("click", () => {
      const large = button.previousElementSibling.classList.toggle("large");
      button.setAttribute("aria-pressed", large);
      button.textContent = large ? "Fit to the screen" : "Enlarge";
    });
  }

  // The numbers of a point, on hover or tap; the table below a figure has them all.
  const tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.append(tip);
  const point = (event) => {
    const title = event.target.closest?.(".canvas use")?.querySelector("title");
    const value = event.target.closest?.("[data-cell]");
    const text = title?.textContent
      ?? (value && scoresOf(value).map((score) => score.value.toFixed(3)).join(" "));
    tip.hidden = !text;
    if (!text) return;
    tip.textContent = text;
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

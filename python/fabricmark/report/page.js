"use strict";
// Finding, sorting and saving tables, reading values off plots, opening everything. The page is complete without it.
(() => {
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const button = (words, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = words;
    made.addEventListener("click", act);
    return made;
  };

  // Tables: a click on a heading sorts, numbers by size and those without one last.
  const size = (text) => {
    const power = /^2\^(\d+)$/.exec(text);
    return power ? 2 ** power[1] : Number.parseFloat(text);
  };
  function sort(table, column, heading) {
    const down = heading.getAttribute("aria-sort") === "ascending";
    all("thead th", table).forEach((other) => other.removeAttribute("aria-sort"));
    heading.setAttribute("aria-sort", down ? "descending" : "ascending");
    const numeric = heading.classList.contains("n");
    const key = (row) => (numeric ? size(row.cells[column].textContent) : row.cells[column].textContent);
    const body = table.tBodies[0];
    const keyed = [...body.rows].map((row) => [key(row), row]);
    keyed.sort(([a], [b]) => {
      if (numeric && (Number.isNaN(a) || Number.isNaN(b))) return Number.isNaN(a) - Number.isNaN(b);
      return (down ? -1 : 1) * (numeric ? a - b : a.localeCompare(b, "en", { numeric: true }));
    });
    body.append(...keyed.map(([, row]) => row));
  }

  // What a spreadsheet would take for a formula is marked as text.
  const quoted = (text) => {
    const safe = /^[=+\-@\t]/.test(text) && text !== "-" && !/^[+-][\d.]/.test(text) ? "'" + text : text;
    return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const csv = (table) => [...table.rows].map((row) => [...row.cells].map((cell) => quoted(cell.textContent)).join(","));
  function save(table, name) {
    const place = URL.createObjectURL(new Blob([csv(table).join("\n") + "\n"], { type: "text/csv" }));
    const link = document.createElement("a");
    link.href = place;
    link.download = name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "") + ".csv";
    link.click();
    setTimeout(() => URL.revokeObjectURL(place), 1000);
  }
  all("table").forEach((table) => {
    const name = table.caption.textContent;
    const saver = button("CSV", () => save(table, name));
    saver.setAttribute("aria-label", `Save as CSV: ${name}`);
    if (table.tBodies[0].rows.length > 1) {
      all("thead th", table).forEach((heading, column) => {
        heading.replaceChildren(button(heading.textContent, () => sort(table, column, heading)));
      });
    }
    table.caption.append(saver);
  });

  // Plots: a mark says what it stands for, by pointer or, in a plot with the focus, by the arrow keys.
  const tip = document.getElementById("tip");
  let current = null;
  function said(mark) {
    const title = mark.querySelector("title");
    if (title) {
      mark.dataset.said = title.textContent; // or the browser's own tip would lie over this one
      title.remove();
    }
    return mark.dataset.said;
  }
  function hide() {
    if (current) current.classList.remove("on");
    current = null;
    tip.hidden = true;
  }
  function show(mark) {
    hide();
    current = mark;
    mark.classList.add("on");
    tip.textContent = said(mark);
    tip.hidden = false;
    const box = mark.getBoundingClientRect();
    const left = Math.min(box.right + 8, innerWidth - tip.offsetWidth - 8);
    const above = box.top - tip.offsetHeight - 6;
    tip.style.left = Math.max(4, left) + "px";
    tip.style.top = (above > 0 ? above : box.bottom + 6) + "px";
  }
  const marked = (element) => element.closest?.("figure circle, figure rect");
  document.addEventListener("pointerover", (event) => (marked(event.target) ? show(event.target) : current && hide()));
  document.addEventListener("scroll", hide, { passive: true });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") hide();
    const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
    const plot = document.activeElement?.closest("figure > svg, .frame > svg");
    if (!plot || !(event.key in steps)) return;
    event.preventDefault();
    const marks = all("circle, rect", plot);
    const next = marks.indexOf(current) + steps[event.key];
    if (marks.length) show(marks[(next + marks.length) % marks.length]);
  });
  document.addEventListener("focusout", hide);

  // What is looked for: rows of tables and whole benchmarks that do not have it are left out, here and on paper.
  const find = document.getElementById("find");
  const only = document.getElementById("only");
  const ends = (row) => row.cells[row.cells.length - 1].textContent; // its verdict
  const column = (name) => all("#headlines thead th").findIndex((heading) => heading.textContent === name);
  const name = (row) => row.cells[0].textContent;
  const shown = (part, is) => part.toggleAttribute("data-out", !is);
  function narrow() {
    const words = find.value.trim().toLowerCase();
    const fits = (text) => text.toLowerCase().includes(words);
    const heads = all("#answer tbody tr");
    const lines = all("#headlines tbody tr");
    const share = column("efficiency");
    const suits = {
      all: () => true,
      "not valid": (row) => !ends(row).startsWith("valid"),
      "model off": (row) => heads.some((head) => name(head) === name(row) && ends(head).includes("model off")),
      "no limit": (row) => row.cells[share]?.textContent === "-" || row.textContent.includes("no limit"),
    }[only.value];
    const wanted = new Set(lines.filter(suits).map(name));
    const sections = all("section.rest:not(#about)");
    sections.forEach((section) => {
      const title = section.querySelector("h2").textContent;
      const rows = all("details:first-of-type > .frame tbody tr", section);
      const whole = fits(title) || lines.some((row) => name(row) === title && fits(row.textContent));
      const some = rows.some((row) => fits(row.textContent));
      rows.forEach((row) => shown(row, whole || !some || fits(row.textContent)));
      const is = (wanted.has(title) || (only.value === "all" && !lines.some((row) => name(row) === title))) && (whole || some);
      shown(section, is);
      if (!is) wanted.delete(title);
    });
    lines.forEach((row) => shown(row, wanted.has(name(row)) && suits(row)));
    heads.forEach((row) => shown(row, wanted.has(name(row)) && (only.value !== "not valid" || suits(row))));
    const here = sections.filter((section) => !section.hasAttribute("data-out")).length;
    document.getElementById("left").textContent = here < sections.length ? `${here} of ${sections.length} benchmarks` : "";
  }
  if (find) {
    find.addEventListener("input", narrow);
    only.addEventListener("change", narrow);
  }

  // Folded parts: all at once, those around a link's target, and on paper.
  const folded = all("details");
  const opener = document.getElementById("open"); // a page without folded parts has none
  function openAll(open) {
    folded.forEach((part) => (part.open = open));
    document.body.classList.toggle("whole", open); // is printed
    opener?.setAttribute("aria-pressed", String(open));
    if (opener) opener.textContent = open ? "Fold everything" : "Open everything";
  }
  opener?.addEventListener("click", () => openAll(opener.getAttribute("aria-pressed") !== "true"));
  function reveal() {
    if (location.hash === "#all") return openAll(true);
    let part = document.getElementById(location.hash.slice(1));
    for (; part; part = part.parentElement) if (part.tagName === "DETAILS") part.open = true;
  }
  window.addEventListener("hashchange", reveal);
  reveal();
  let before = [];
  window.addEventListener("beforeprint", () => {
    before = folded.filter((part) => !part.open);
    before.forEach((part) => (part.open = true));
  });
  window.addEventListener("afterprint", () => before.forEach((part) => (part.open = false)));
})();

"use strict";
// Put into the page by the tests: does what a reader does and writes down what it finds, as JSON.
(async () => {
  const found = { opened: [], saved: [], clicked: 0, errors: [] };
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const wait = (ms) => new Promise((done) => setTimeout(done, ms));
  window.addEventListener("error", (event) => found.errors.push(String(event.message)));
  window.open = (...given) => (found.opened.push(String(given[0])), null);
  const blob = URL.createObjectURL;
  URL.createObjectURL = (data) => {
    data.text().then((text) => found.saved.push(text));
    return blob.call(URL, data);
  };
  try {
    found.lastHeadline = Math.max(...all("#headlines tbody tr").map((row) => row.getBoundingClientRect().bottom));
    found.headlines = all("#headlines tbody tr").map((row) => row.cells[0].textContent);

    // Width: the page does not scroll sideways, and what is wider than its frame scrolls in it.
    const wider = () =>
      all("main *").filter((part) => {
        const frame = part.closest(".frame");
        const edge = frame && frame !== part ? Infinity : innerWidth;
        return part.checkVisibility() && part.getBoundingClientRect().right > edge + 1;
      });
    const measure = () => ({
      page: document.scrollingElement.scrollWidth - document.documentElement.clientWidth,
      outside: wider().map((part) => part.outerHTML.slice(0, 80)),
      cut: all(".frame").filter((frame) => frame.scrollWidth > frame.clientWidth + 1 && getComputedStyle(frame).overflowX !== "auto").length,
    });
    found.closed = all("details:not([open])").length;
    found.narrow = measure();

    // Paper: everything is open while it is printed, and as before afterwards.
    window.dispatchEvent(new Event("beforeprint"));
    found.closedInPrint = all("details:not([open])").length;
    window.dispatchEvent(new Event("afterprint"));
    found.closedAfterPrint = all("details:not([open])").length;

    const sorter = all("#headlines thead th").findIndex((heading) => heading.textContent === "best");
    const column = () => all("#headlines tbody tr").map((row) => row.cells[sorter].textContent);
    all("#headlines thead th button")[sorter].click();
    found.ascending = column();
    all("#headlines thead th button")[sorter].click();
    found.descending = column();
    found.sorted = all("#headlines thead th")[sorter].getAttribute("aria-sort");

    for (const part of all("button, summary, a, [role=button], [onclick], input, figure svg")) {
      part.dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, view: window }));
      found.clicked += 1;
      if (found.clicked % 50 === 0) await wait(1);
    }
    const opener = document.getElementById("open");
    if (opener.getAttribute("aria-pressed") === "true") opener.click();
    opener.click();
    found.closedWhenOpened = all("details:not([open])").length;
    found.wide = measure();

    // Plots: the arrow keys of one with the focus read out its values, one after the other.
    const plot = all("figure svg[tabindex]").find((svg) => svg.querySelectorAll("circle").length > 2);
    const tip = document.getElementById("tip");
    found.tips = [];
    plot.focus();
    for (let i = 0; i < 3; i += 1) {
      plot.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
      found.tips.push(tip.hidden ? "" : tip.textContent);
    }
    document.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true }));
    found.tipAfterEscape = !tip.hidden;
    plot.querySelector("circle").dispatchEvent(new PointerEvent("pointerover", { bubbles: true }));
    found.pointed = tip.hidden ? "" : tip.textContent;
    await wait(50);
    if (window.axe) {
      const { violations } = await axe.run({ resultTypes: ["violations"] });
      found.axe = violations.map((one) => ({ id: one.id, impact: one.impact, nodes: one.nodes.length, first: one.nodes[0].html.slice(0, 160) }));
    }
  } catch (cause) {
    found.errors.push(String(cause.stack));
  }
  const place = document.createElement("pre");
  place.id = "found";
  place.textContent = JSON.stringify(found);
  document.body.append(place);
})();

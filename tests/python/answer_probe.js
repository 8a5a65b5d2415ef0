"use strict";
// Put into the page by the tests: where the answer lies, what finding and narrowing leave, what axe says.
(async () => {
  const found = { errors: [], axe: {} };
  const all = (selector, inside = document) => [...inside.querySelectorAll(selector)];
  const bottom = (part) => Math.round(part.getBoundingClientRect().bottom);
  const seen = (selector) => all(selector).filter((part) => part.checkVisibility());
  const look = async (state) => {
    if (!window.axe) return;
    const { violations } = await axe.run({ resultTypes: ["violations"] });
    found.axe[state] = violations.map((one) => `${one.id}: ${one.nodes[0].html.slice(0, 160)}`);
  };
  window.addEventListener("error", (event) => found.errors.push(String(event.message)));
  try {
    // The first screen: every row, why others have none, and every next step.
    found.width = innerWidth;
    found.last = Math.max(...all("#verdict, #answer tbody tr, .shares p, #answer li, #answer code").map(bottom));
    found.rows = seen("#answer tbody tr").map((row) => row.cells[0].textContent);
    found.verdicts = all("#answer tbody tr").map((row) => row.lastElementChild.getBoundingClientRect().right <= innerWidth);
    found.commands = seen("#answer code").length;
    found.sideways = document.scrollingElement.scrollWidth - document.documentElement.clientWidth;
    found.cut = seen("#answer .frame").filter((frame) => frame.scrollWidth > frame.clientWidth + 1).length;
    await look("closed");

    // Far down the verdict is still there.
    scrollTo(0, document.body.scrollHeight);
    found.scrolled = scrollY;
    const verdict = document.getElementById("verdict").getBoundingClientRect();
    found.verdictTop = Math.round(verdict.top);
    found.onTop = document.elementFromPoint(verdict.left + 5, verdict.top + 10)?.closest("#verdict") !== null;
    scrollTo(0, 0);

    const sections = () => seen("section.rest:not(#about)").map((section) => section.querySelector("h2").textContent);
    const find = document.getElementById("find");
    const only = document.getElementById("only");
    const narrow = (words, which) => {
      find.value = words;
      find.dispatchEvent(new Event("input"));
      only.value = which;
      only.dispatchEvent(new Event("change"));
      return { sections: sections(), rows: seen("#answer tbody tr").length, left: document.getElementById("left").textContent };
    };
    found.every = narrow("", "all");
    found.one = narrow("RANDOM_ACC", "all");
    found.wrong = narrow("", "not valid");
    found.off = narrow("", "model off");
    found.without = narrow("", "no limit");
    found.none = narrow("no such thing", "all");
    found.again = narrow("", "all");

    document.getElementById("open").click();
    found.sidewaysOpened = document.scrollingElement.scrollWidth - document.documentElement.clientWidth;
    const beside = (part) => !part.closest(".frame") && part.getBoundingClientRect().right > innerWidth + 1;
    found.beside = seen("main *").filter(beside).map((part) => part.outerHTML.slice(0, 80));
    await look("opened");
  } catch (cause) {
    found.errors.push(String(cause.stack));
  }
  const place = document.createElement("pre");
  place.id = "found";
  place.textContent = JSON.stringify(found);
  document.body.append(place);
  console.log(`found ${JSON.stringify(found)}`);
})();

"use strict";
// Draws each plot when it comes near the window, so that a page of hundreds opens at once.
(() => {
  const options = { responsive: true, displaylogo: false, modeBarButtonsToRemove: ["select2d", "lasso2d"] };
  const places = [...document.querySelectorAll(".plot")];

  function draw(place) {
    if (place.dataset.drawn) return;
    place.dataset.drawn = "yes";
    try {
      const plot = JSON.parse(place.nextElementSibling.textContent);
      Plotly.newPlot(place, plot.traces, plot.layout, options).then(fit, (cause) => complain(place, cause));
    } catch (cause) {
      complain(place, cause);
    }
  }

  // The legend grows as its column narrows: the plot's own area must not shrink for it.
  function fit(place) {
    const legend = place.querySelector(".legend");
    if (!legend) return;
    const rows = legend.getBoundingClientRect().height;
    const wanted = Number(place.dataset.inside) + 104 + rows;
    if (Math.abs(wanted - place.layout.height) > 8) Plotly.relayout(place, { height: wanted });
    place.style.minHeight = "";
  }

  function complain(place, cause) {
    const line = document.createElement("p");
    line.className = "error";
    line.textContent = "This plot could not be drawn: " + cause;
    place.replaceChildren(line);
  }

  function openAll() {
    document.querySelectorAll("details").forEach((part) => (part.open = true));
    places.forEach(draw);
  }

  const watcher = new IntersectionObserver(
    (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => draw(entry.target)),
    { rootMargin: "600px" },
  );
  places.forEach((place) => watcher.observe(place));
  document.getElementById("open").addEventListener("click", openAll);
  window.addEventListener("beforeprint", () => {
    places.filter((place) => !place.closest("details:not([open])")).forEach(draw);
  });
  if (location.hash === "#all") openAll();
})();

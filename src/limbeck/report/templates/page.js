"use strict";
// Without this script each point is a stop of the Tab key; with it a plot is one stop, in which
// the arrow keys move, and a first tap shows a name instead of leaving for the row.
for (const plot of document.querySelectorAll("svg.plot")) {
  const points = [...plot.querySelectorAll("a")];
  const go = (to) => {
    points.forEach((point, i) => point.setAttribute("tabindex", i === to ? "0" : "-1"));
  };
  go(0);
  plot.addEventListener("focusin", (event) => go(points.indexOf(event.target.closest("a"))));
  plot.addEventListener("keydown", (event) => {
    const at = points.indexOf(event.target.closest("a"));
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: points.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    points[Math.min(points.length - 1, Math.max(0, to))].focus();
  });
  let shown = null;
  plot.addEventListener("pointerdown", (event) => {
    const point = event.target.closest("a");
    shown = event.pointerType === "touch" && point !== document.activeElement ? point : null;
  });
  plot.addEventListener("click", (event) => {
    const point = event.target.closest("a");
    if (point === null || point !== shown) return;
    event.preventDefault();
    point.focus();
  });
}

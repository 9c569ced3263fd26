// A sentence -> SVG: words in a row, arcs above, tags and entities below. Layout first, then drawing.

import { drawn } from "/static/dom.js";
import { wordFacts } from "/static/sentence.js";

const GAP = 20, LEVEL = 26, TOP = 20, ROW = 20, EDGE = 14;

const ruler = document.createElement("canvas").getContext("2d");
function widthOf(text, size) {
  ruler.font = `${size}px system-ui, "DejaVu Sans", sans-serif`;
  return ruler.measureText(text).width;
}

export function layOut(sentence) {
  const { words, arcs, spans, shown, labels } = sentence;
  const widths = words.map((word, i) =>
    Math.max(
      widthOf(word, 16),
      shown ? widthOf(labels[shown][i] ?? "", 12) : 0,
      ...spans.filter((s) => s.start === i && s.end === i).map((s) => widthOf(s.name, 12) + 6),
      14,
    ) + 10);
  const links = (arcs ?? []).flatMap((arc, i) => (arc && arc[0] > 0
    ? [{ head: arc[0] - 1, word: i, left: Math.min(i, arc[0] - 1), right: Math.max(i, arc[0] - 1), name: arc[1] }]
    : []));
  const roots = (arcs ?? []).flatMap((arc, i) => (arc && arc[0] === 0 ? [{ word: i, name: arc[1] }] : []));
  const at = [];
  words.forEach((_, i) => {
    let x = i === 0 ? EDGE + widths[0] / 2 : at[i - 1] + (widths[i - 1] + widths[i]) / 2 + GAP;
    for (const link of links) {
      if (link.right === i) x = Math.max(x, at[link.left] + widthOf(link.name, 12) + 26);
    }
    for (const span of spans) {
      if (span.end === i && span.start < i) x = Math.max(x, at[span.start] + widthOf(span.name, 12) - widths[i] / 2);
    }
    at.push(x);
  });
  const byLength = [...links].sort((a, b) => a.right - a.left - (b.right - b.left));
  for (const link of byLength) {
    const below = byLength.filter((o) => o.level && o.left < link.right && o.right > link.left);
    link.level = 1 + Math.max(0, ...below.map((o) => o.level));
  }
  const height = links.length || roots.length ? TOP + LEVEL * Math.max(1, ...links.map((l) => l.level)) : 4;
  const last = words.length - 1;
  return { widths, links, roots, at, base: height, width: at[last] + widths[last] / 2 + EDGE };
}

export function drawTree(sentence, marks, onWord) {
  const plan = layOut(sentence);
  const { at, widths, base } = plan;
  const links = plan.links.map((link) => drawLink(link, plan, marks?.[link.word].has(sentence.dep)));
  const roots = plan.roots.map((root) => drawRoot(root, plan, marks?.[root.word].has(sentence.dep)));
  const all = [...links, ...roots];
  const entities = sentence.spans.map((span) => drawSpan(span, plan, sentence.shown ? 2 : 1));
  const words = sentence.words.map((word, i) => {
    const said = wordFacts(sentence, i).map(({ task, text }) => `${task} ${text || "none"}`).join(", ");
    const differs = marks?.[i]?.size ? "differs" : "";
    const parts = [
      drawn("rect", { class: "back", x: at[i] - widths[i] / 2, y: base + 2, width: widths[i], height: sentence.shown ? 40 : 24, rx: 4 }),
      drawn("text", { class: "form", x: at[i], y: base + ROW, "text-anchor": "middle", text: word }),
    ];
    if (sentence.shown) {
      parts.push(drawn("text", { class: "tag", x: at[i], y: base + 2 * ROW - 3, "text-anchor": "middle", text: sentence.labels[sentence.shown][i] ?? "" }));
    }
    return drawn("g", {
      class: `word ${differs}`, tabindex: i === 0 ? "0" : "-1", role: "listitem",
      "aria-label": `${word}: ${said}${differs && "; the other model differs"}`,
    }, parts);
  });
  const height = base + ROW * ((sentence.shown ? 2 : 1) + (sentence.spans.length ? 1 : 0)) + 10;
  const svg = drawn("svg", {
    class: "tree", role: "list", "aria-label": "words of the sentence, arrow keys move between them",
    width: plan.width, height, viewBox: `0 0 ${plan.width} ${height}`,
  }, [...entities, ...all.map((l) => l.lines), ...all.map((l) => l.name), ...words]);
  listen(svg, words, all, onWord);
  return svg;
}

function drawLink(link, { at, base }, isDiffering) {
  const to = at[link.word] + (link.head < link.word ? -4 : 4);
  const from = at[link.head] + (link.head < link.word ? 4 : -4);
  const y = base - LEVEL * link.level;
  const turn = from < to ? 8 : -8;
  const path = `M${from},${base} V${y + 8} Q${from},${y} ${from + turn},${y} H${to - turn} Q${to},${y} ${to},${y + 8} V${base - 5}`;
  const lines = [
    drawn("path", { class: "arc", d: path }),
    drawn("path", { class: "arrow", d: `M${to - 4},${base - 7} h8 l-4,8 z` }),
  ];
  return made(lines, link.name, (from + to) / 2, y + 4, isDiffering, [link.word, link.head]);
}

function drawRoot(root, { at, base }, isDiffering) {
  const x = at[root.word];
  const lines = [
    drawn("path", { class: "arc", d: `M${x},14 V${base - 5}` }),
    drawn("path", { class: "arrow", d: `M${x - 4},${base - 7} h8 l-4,8 z` }),
  ];
  return made(lines, root.name, x, 12, isDiffering, [root.word]);
}

// Lines and name apart: all names are drawn over all lines.
function made(lines, name, x, y, isDiffering, words) {
  const group = (parts) => drawn("g", { class: `link ${isDiffering ? "differs" : ""}`, "aria-hidden": "true" }, parts);
  const text = drawn("text", { class: "relation", x, y, "text-anchor": "middle", text: name });
  return { lines: group(lines), name: group([text]), words };
}

function drawSpan(span, { at, widths, base }, row) {
  const left = at[span.start] - widths[span.start] / 2;
  const right = at[span.end] + widths[span.end] / 2;
  const width = Math.max(right - left, widthOf(span.name, 12) + 10);
  const y = base + ROW * row + 4;
  return drawn("g", { "aria-hidden": "true" }, [
    drawn("rect", { class: "entity", x: left, y, width, height: 18, rx: 4 }),
    drawn("text", { class: "entity-name", x: left + width / 2, y: y + 13, "text-anchor": "middle", text: span.name }),
  ]);
}

function listen(svg, words, links, onWord) {
  const show = (i) => {
    words.forEach((word, j) => word.classList.toggle("on", i === j));
    for (const link of links) {
      for (const group of [link.lines, link.name]) group.classList.toggle("on", link.words.includes(i));
    }
    onWord(i);
  };
  words.forEach((word, i) => {
    word.addEventListener("pointerenter", () => show(i));
    word.addEventListener("click", () => show(i));
    word.addEventListener("focus", () => {
      words.forEach((other, j) => other.setAttribute("tabindex", i === j ? "0" : "-1"));
      show(i);
    });
  });
  svg.addEventListener("keydown", (event) => {
    const here = words.indexOf(document.activeElement);
    const there = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: words.length - 1 }[event.key];
    if (here < 0 || there === undefined) return;
    event.preventDefault();
    words[Math.min(words.length - 1, Math.max(0, there))].focus();
  });
}

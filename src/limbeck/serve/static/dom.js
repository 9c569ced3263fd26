// Elements from plain values: text goes in as text, so that nothing a model or a user says is markup.

const SVG = "http://www.w3.org/2000/svg";

export function element(name, { text, ...attributes } = {}, children = []) {
  return filled(document.createElement(name), text, attributes, children);
}

export function drawn(name, { text, ...attributes } = {}, children = []) {
  return filled(document.createElementNS(SVG, name), text, attributes, children);
}

function filled(node, text, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  if (text !== undefined) node.textContent = text;
  node.append(...children);
  return node;
}

export function facts(pairs, className) {
  const rows = pairs.map(([name, value, mark]) =>
    element("div", { class: mark }, [
      element("dt", { text: name }),
      element("dd", { text: value }),
    ]),
  );
  return element("dl", { class: className }, rows);
}

export function table(head, rows) {
  const cells = (row, kind) => row.map((text) => element(kind, { text, scope: kind === "th" && "col" }));
  return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": "table" }, [
    element("table", {}, [
      element("thead", {}, [element("tr", {}, cells(head, "th"))]),
      element("tbody", {}, rows.map((row) => element("tr", {}, cells(row, "td")))),
    ]),
  ]);
}

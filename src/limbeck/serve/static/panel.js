// What one bundle says: its facts, classes of the text as bars, each sentence as a tree and a table.

import { element, facts, table } from "/static/dom.js";
import { differences, readSentence, wordFacts, wordLabel } from "/static/sentence.js";
import { drawTree } from "/static/tree.js";

const MAX_SENTENCES = 30, MAX_BARS = 8;

export function makePanel(model, answer, other) {
  const kinds = Object.fromEntries(model.tasks.map((task) => [task.name, task.kind]));
  const otherKinds = other && Object.fromEntries(other.model.tasks.map((task) => [task.name, task.kind]));
  const shown = answer.results.slice(0, MAX_SENTENCES);
  const sections = shown.map((result, i) => {
    const sentence = readSentence(result, kinds);
    const beside = other?.answer.results[i] && readSentence(other.answer.results[i], otherKinds);
    return makeSentence(sentence, beside, i, answer.results.length);
  });
  if (answer.results.length > shown.length) {
    const more = answer.results.length - shown.length;
    sections.push(element("p", { class: "plain", text: `and ${more} more; copy them as JSON or CoNLL-U` }));
  }
  return element("section", { class: "panel", "aria-label": model.name }, [
    element("h2", { text: model.name }),
    facts([
      ["this request", `${answer.totalMs.toFixed(1)} ms, ${answer.engineMs} ms of it in the engine`],
      ["size", `${model.size_mb.toFixed(1)} MB ${model.precision}`],
      ["engine", `${model.engine}, ${model.n_threads} thread${model.n_threads === 1 ? "" : "s"}`],
    ], "facts"),
    makeEvidence(model.evidence),
    ...sections,
  ]);
}

function makeEvidence(evidence) {
  const metrics = Object.entries(evidence.metrics ?? {});
  if (!metrics.length) return element("p", { class: "plain", text: "This bundle carries no measurements." });
  const number = (value) => (typeof value === "number" ? value.toFixed(2) : String(value ?? ""));
  const rows = metrics.map(([name, value]) => [name, number(value), number(evidence.reference?.[name])]);
  const rate = evidence.sentences_per_second;
  const where = evidence.environment?.cpu ? ` on ${evidence.environment.cpu}` : "";
  const short = metrics.slice(0, 4).map(([name, value]) => `${name} ${number(value)}`).join(" · ");
  return element("details", { class: "evidence" }, [
    element("summary", { text: `Measured when it was made: ${short}${metrics.length > 4 ? " …" : ""}` }),
    element("p", { class: "plain", text: rate ? `${rate.toFixed(0)} sentences/s${where}` : "" }),
    table(["metric, dev", "this bundle", "before int8"], rows),
  ]);
}

function makeSentence(sentence, beside, i, n) {
  const marks = beside && differences(sentence, beside);
  const parts = [element("h3", { text: n > 1 ? `Sentence ${i + 1} of ${n}` : "Sentence" })];
  if (beside && !marks) parts.push(element("p", { class: "note", text: "≠ the two have other words here" }));
  const nDiffering = (marks ?? []).filter((tasks) => tasks.size).length;
  if (nDiffering) {
    const what = nDiffering === 1 ? "1 word differs" : `${nDiffering} words differ`;
    parts.push(element("p", { class: "note", text: `≠ ${what} from the other model` }));
  } else if (marks?.length && sentence.tasks.length) {
    parts.push(element("p", { class: "plain", text: "= no word differs from the other model" }));
  }
  parts.push(...sentence.textTasks.map((task) => makeTextTask(sentence, beside, task)));
  if (sentence.words.length && sentence.tasks.length) parts.push(...makeWords(sentence, beside, marks));
  return element("article", { class: "sentence" }, parts);
}

function makeWords(sentence, beside, marks) {
  const detail = element("dl", { class: "detail" });
  const tree = drawTree(sentence, marks, (i) => {
    const rows = [["word", sentence.words[i]]];
    for (const { task, text, sure } of wordFacts(sentence, i)) {
      const differs = marks?.[i].has(task);
      const there = differs ? `  ≠ other: ${wordLabel(beside, task, i)}` : "";
      rows.push([task, `${text}${sure}${there}`, differs ? "differs" : undefined]);
    }
    detail.replaceChildren(...facts(rows).children);
  });
  const all = element("details", { class: "evidence" }, [element("summary", { text: "As a table" })]);
  all.addEventListener("toggle", () => {
    if (all.children.length > 1) return;
    const rows = sentence.words.map((word, i) => [
      String(i + 1), word, ...sentence.tasks.map((task) => wordLabel(sentence, task, i)),
    ]);
    all.append(table(["", "word", ...sentence.tasks], rows));
  });
  return [element("div", { class: "scroll" }, [tree]), detail, all];
}

function makeTextTask(sentence, beside, task) {
  const label = sentence.labels[task];
  const other = beside?.labels[task];
  const isNumber = typeof label === "number";
  const differs = other !== undefined && !isNumber && JSON.stringify(label) !== JSON.stringify(other);
  const said = isNumber ? label.toFixed(3) : [label].flat().join(", ") || "none";
  const heading = element("h4", {}, [
    element("span", { text: `${task}: ` }),
    element("span", { class: differs ? "chosen differs" : "chosen", text: `${said}${differs ? ` ≠ other: ${[other].flat().join(", ") || "none"}` : ""}` }),
  ]);
  const chances = Object.entries(sentence.probabilities[task] ?? {});
  const bars = chances.slice(0, MAX_BARS).map(([name, chance]) => makeBar(name, chance, [label].flat().includes(name)));
  const more = chances.length > MAX_BARS
    ? [element("p", { class: "plain", text: `and ${chances.length - MAX_BARS} less likely` })] : [];
  return element("div", { class: "text-task" }, [heading, element("ul", { class: "bars", "aria-label": `${task}, probabilities` }, bars), ...more]);
}

function makeBar(name, chance, isChosen) {
  const fill = element("div", { class: "fill" });
  fill.style.width = `${100 * chance}%`;
  return element("li", { class: isChosen ? "chosen" : "" }, [
    element("span", { class: "name", text: `${isChosen ? "✓ " : ""}${name}` }),
    element("span", { class: "track", "aria-hidden": "true" }, [fill]),
    element("span", { class: "number", text: `${(100 * chance).toFixed(1)} %` }),
  ]);
}

// A result of the API -> what its words are called, task by task. No drawing.

export function readSentence(result, kinds) {
  const tasks = Object.keys(result.labels);
  const ofWords = tasks.filter((task) => !["classify", "classify_many", "regress"].includes(kinds[task]));
  const dep = ofWords.find((task) => kinds[task] === "dep");
  const tags = ofWords.filter((task) => kinds[task] === "tag");
  return {
    words: result.words,
    labels: result.labels,
    probabilities: result.probabilities ?? {},
    tasks: ofWords,
    textTasks: tasks.filter((task) => !ofWords.includes(task)),
    kinds,
    shown: tags.includes("upos") ? "upos" : tags[0],
    dep,
    arcs: dep ? result.labels[dep] : undefined,
    spans: ofWords.filter((task) => kinds[task] === "spans").flatMap((task) => spansOf(result.labels[task])),
  };
}

export function spansOf(tags) {
  const spans = [];
  tags.forEach((tag, i) => {
    if (tag.startsWith("B-")) spans.push({ name: tag.slice(2), start: i, end: i });
    else if (tag.startsWith("I-") && spans.length) spans[spans.length - 1].end = i;
  });
  return spans;
}

export function wordLabel(sentence, task, i) {
  const label = sentence.labels[task][i];
  if (label === null || label === undefined) return "";
  if (sentence.kinds[task] !== "dep") return label;
  const [head, relation] = label;
  return head === 0 ? `${relation} (of the sentence)` : `${relation} of ${sentence.words[head - 1]} (word ${head})`;
}

export function wordFacts(sentence, i) {
  return sentence.tasks.map((task) => {
    const chance = sentence.probabilities[task]?.[i];
    const sure = chance === undefined ? "" : ` · ${(100 * chance).toFixed(0)} %`;
    return { task, text: wordLabel(sentence, task, i), sure };
  });
}

// For each word the tasks whose labels differ between two models; undefined where words differ.
export function differences(one, other) {
  if (!other || one.words.join("\u0000") !== other.words.join("\u0000")) return undefined;
  const common = one.tasks.filter((task) => other.tasks.includes(task));
  return one.words.map((_, i) =>
    new Set(common.filter((t) => JSON.stringify(one.labels[t][i]) !== JSON.stringify(other.labels[t][i]))),
  );
}

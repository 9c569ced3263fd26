// The page: text in, panels out. State is the form; the form is mirrored in the link's fragment,
// which browsers do not send to the server.

import "/static/theme.js";
import { element } from "/static/dom.js";
import { makePanel } from "/static/panel.js";

const QUIET_MS = 180; // after the last key
const byId = (id) => document.getElementById(id);
const [text, model, other, split] = ["text", "model", "other", "split"].map(byId);
const results = byId("results");
let models = [];
let timer;
let running; // aborts the requests under way
let shown; // what the panels show: the bodies and answers

function say(message, isBad = false) {
  byId("status").textContent = message;
  byId("status").classList.toggle("bad", isBad);
}

function bodyFor(name) {
  return { model: name, texts: [text.value], split: split.value, probabilities: true };
}

async function ask(body, accept, signal) {
  const answer = await fetch("/v1/annotate", {
    method: "POST", signal, body: JSON.stringify(body),
    headers: { "content-type": "application/json", accept },
  });
  if (answer.ok) return answer;
  const told = await answer.json().catch(() => ({}));
  throw new Error(told.error ?? `status ${answer.status}`);
}

async function annotate(name, signal) {
  const began = performance.now();
  const answer = await ask(bodyFor(name), "application/json", signal);
  const value = await answer.json();
  const engine = /engine;dur=([\d.]+)/.exec(answer.headers.get("server-timing") ?? "");
  return { ...value, totalMs: performance.now() - began, engineMs: engine ? engine[1] : "?" };
}

async function update() {
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  remember();
  if (!text.value.trim()) {
    results.replaceChildren();
    shown = undefined;
    say("");
    return;
  }
  results.classList.add("busy");
  try {
    const names = [model.value, ...(other.value ? [other.value] : [])];
    const answers = [];
    for (const name of names) answers.push(await annotate(name, signal)); // in turn: each has its own time
    const found = answers.map((answer, i) => ({ answer, model: models.find((m) => m.name === names[i]) }));
    shown = found;
    results.classList.toggle("two", found.length === 2);
    results.replaceChildren(...found.map(({ answer, model: own }, i) => makePanel(own, answer, found[1 - i])));
    const n = answers[0].results.length;
    say(`${n} ${n === 1 ? "sentence" : "sentences"} annotated`);
  } catch (failure) {
    if (signal.aborted) return;
    say(failure.message, true);
  } finally {
    if (!signal.aborted) results.classList.remove("busy");
  }
}

function later() {
  clearTimeout(timer);
  timer = setTimeout(update, QUIET_MS);
}

function remember() {
  const state = new URLSearchParams({ text: text.value, model: model.value, split: split.value });
  if (other.value) state.set("other", other.value);
  history.replaceState(null, "", `#${state}`);
}

function recall() {
  const state = new URLSearchParams(location.hash.slice(1));
  if (state.has("text")) text.value = state.get("text");
  for (const [name, choice] of Object.entries({ model, other, split })) {
    if ([...choice.options].some((option) => option.value === state.get(name))) choice.value = state.get(name);
  }
}

async function copy(what, make) {
  try {
    await put(await make());
    say(`${what} copied`);
  } catch (failure) {
    say(`not copied: ${failure.message}`, true);
  }
}

async function put(value) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(value);
    return;
  }
  // without https a browser offers no clipboard; the old way works from a selection
  const box = element("textarea", { class: "skip", "aria-hidden": "true" });
  box.value = value;
  document.body.append(box);
  box.select();
  const isDone = document.execCommand("copy");
  box.remove();
  if (!isDone) throw new Error("the browser refused");
}

async function start() {
  const info = await fetch("/info").then((answer) => answer.json());
  models = info.models;
  const options = () => models.map((m) => element("option", { value: m.name, text: m.name }));
  model.append(...options());
  other.append(element("option", { value: "", text: "nothing" }), ...options());
  if (models.length > 1) other.value = models[1].name;
  byId("other-label").hidden = models.length < 2;
  recall();
  await update();
}

text.addEventListener("input", later);
for (const choice of [model, other, split]) choice.addEventListener("change", update);
byId("form").addEventListener("submit", (event) => event.preventDefault());
addEventListener("hashchange", () => { recall(); update(); });
byId("copy-link").addEventListener("click", () => copy("Link", async () => { remember(); return location.href; }));
byId("copy-json").addEventListener("click", () => copy("JSON", async () =>
  JSON.stringify((shown ?? []).map(({ answer: { model: name, results: own } }) => ({ model: name, results: own })), null, 1)));
byId("copy-conllu").addEventListener("click", () => copy("CoNLL-U", async () =>
  (await ask({ ...bodyFor(model.value), probabilities: false }, "text/x-conllu")).text()));
start().catch((failure) => say(failure.message, true));

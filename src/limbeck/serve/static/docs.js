// The OpenAPI document of this server as a page, with a box to try each operation.

import "/static/theme.js";
import { element, table } from "/static/dom.js";

const own = await fetch("/openapi.json").then((answer) => answer.json());

// A schema with its references followed, a few levels deep: enough to read, and it always ends.
function expanded(schema, depth = 4) {
  if (Array.isArray(schema)) return schema.map((part) => expanded(part, depth));
  if (schema === null || typeof schema !== "object") return schema;
  if (schema.$ref) {
    const name = schema.$ref.split("/").pop();
    return depth ? expanded(own.components.schemas[name], depth - 1) : name;
  }
  return Object.fromEntries(Object.entries(schema)
    .filter(([key]) => key !== "title")
    .map(([key, value]) => [key, expanded(value, depth)]));
}

function schemaOf(content) {
  return Object.entries(content ?? {}).flatMap(([type, { schema }]) => [
    element("h3", { text: type }),
    element("pre", { tabindex: "0", text: JSON.stringify(expanded(schema ?? {}), null, 2) }),
  ]);
}

function tryIt(method, path, operation) {
  const example = operation.requestBody?.content["application/json"]?.example;
  const where = element("input", { value: path, "aria-label": "path", size: "40" });
  const box = element("textarea", { rows: "6", "aria-label": "body", spellcheck: "false" });
  box.value = example === undefined ? "" : JSON.stringify(example, null, 1);
  const answerBox = element("pre", { tabindex: "0", "aria-live": "polite" });
  const button = element("button", { type: "button", text: "Send" });
  button.addEventListener("click", async () => {
    const settings = { method: method.toUpperCase() };
    if (example !== undefined) Object.assign(settings, { body: box.value, headers: { "content-type": "application/json" } });
    try {
      const answer = await fetch(where.value, settings);
      answerBox.textContent = `${answer.status}\n${await answer.text()}`;
    } catch (failure) {
      answerBox.textContent = failure.message;
    }
  });
  return [element("h3", { text: "Try it" }), where, ...(example === undefined ? [] : [box]), button, answerBox];
}

function shownOperation(path, method, operation) {
  const body = operation.requestBody;
  const statuses = Object.entries(operation.responses).map(([status, { description }]) => [status, description]);
  return element("details", { class: "operation" }, [
    element("summary", {}, [
      element("span", { class: "method", text: method.toUpperCase() }),
      element("span", { class: "path", text: path }),
      element("span", { text: operation.summary ?? "" }),
    ]),
    element("p", { text: operation.description ?? "" }),
    ...(body ? [element("h3", { text: "Body" }), ...schemaOf(body.content)] : []),
    element("h3", { text: "Answers" }),
    table(["status", "when"], statuses),
    ...schemaOf(operation.responses["200"]?.content),
    ...tryIt(method, path, operation),
  ]);
}

const all = Object.entries(own.paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => shownOperation(path, method, operation)));
document.getElementById("operations").append(element("p", { text: own.info.description }), ...all);

// A field for each setting of a strategy, and for the size of the context. A field that keeps its
// standard value is not sent.

import { element, spaced } from "./words.js";

export function settingsFields(body, settings) {
  const fields = [["budget_tokens", "", "tokens of the context"]];
  for (const [name, value] of Object.entries(settings)) {
    if (["number", "string", "boolean"].includes(typeof value)) fields.push([`strategy.${name}`, value, spaced(name)]);
  }
  body.replaceChildren(...fields.map(([name, value, label]) => element("label", { text: `${label} ` }, field(name, value))));
}

function field(name, value) {
  if (typeof value === "boolean") {
    const select = element("select", { name }, new Option("yes", "true"), new Option("no", "false"));
    select.value = String(value);
    select.dataset.standard = String(value);
    return select;
  }
  const type = typeof value === "string" && value !== "" ? "text" : "number";
  const input = element("input", { name, type, step: "any", value: String(value) });
  input.dataset.standard = String(value);
  return input;
}

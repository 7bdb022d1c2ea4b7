// What can be done with a memory: copy it, and where writing is allowed replace, forget, mark it.

import { ask } from "./api.js";
import { element } from "./words.js";

// `shown` says what is shown: {scope, recallId}; `done(text, id)` is called after a change.
export function actionsFor({ writes, connectors, shown, done, say }) {
  return (memory) => {
    const bar = element("p", { class: "actions" });
    const below = element("div");
    const act = (text, title, onclick) => bar.append(element("button", { type: "button", text, title, onclick }));
    act("Copy", "Copy its text", () => navigator.clipboard.writeText(memory.text).then(() => say("Copied."), () => say("The browser refused to copy.", true)));
    if (!writes || connectors.includes(memory.kind)) return [bar];
    const change = async (action, more = {}) => {
      const body = { scope: shown().scope, action, id: memory.id, ...more };
      try {
        const { said, id } = await ask("/api/change", { body });
        done(said, id);
      } catch (error) {
        say(error.message, true);
      }
    };
    const { recallId } = shown();
    if (recallId) {
      act("Right", "It answers this question: it moves up for questions like it", () => change("right", { recall_id: recallId }));
      act("Wrong", "It is wrong for this question: it moves down for questions like it", () => change("wrong", { recall_id: recallId }));
    }
    act("Replace …", "Write a new text; recalls then leave this one out", () => replace(below, memory, change));
    act("Forget …", "Delete it with all its edges", () => forget(below, change));
    return [bar, below];
  };
}

function replace(below, memory, change) {
  const text = element("textarea", { rows: 4, required: true, "aria-label": "New text" });
  text.value = memory.text;
  const form = element("form", {}, element("label", { class: "wide", text: "New text" }, text), element("button", { type: "submit", text: "Replace" }), cancel(below));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    change("replace", { text: text.value });
  });
  below.replaceChildren(form);
  text.focus();
}

function forget(below, change) {
  const yes = element("button", { type: "button", class: "danger", text: "Forget it", onclick: () => change("forget") });
  below.replaceChildren(element("p", { text: "It is deleted with all its edges. This can't be undone." }), element("p", {}, yes, " ", cancel(below)));
  yes.focus();
}

function cancel(below) {
  return element("button", { type: "button", text: "Cancel", onclick: () => below.replaceChildren() });
}

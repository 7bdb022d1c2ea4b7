// A field for each setting of a strategy, and for those of any recall, in words. A field that keeps its
// standard value is not sent.

import { element, spaced } from "./words.js";

export const STRATEGIES = {
  transfer: "along strong edges (transfer)",
  lif: "in pulses, above a threshold (lif)",
  anchor: "from facts and episodes (anchor)",
  synapse: "in waves that fade (synapse)",
};

const WORDS = {
  budget_tokens: "Size of the context, in tokens",
  deadline_s: "Most time, in seconds",
  max_depth: "Most steps from a hit",
  max_hops: "Most steps from a hit",
  max_steps: "Most steps from a hit",
  iterations: "Rounds",
  min_activation: "Stop below this energy",
  min_signal: "Stop below this energy",
  max_branches: "Most edges to follow from a memory",
  max_edges: "Most edges to read from a memory",
  tag_sim_floor: "Part that passes without a common tag",
  round_trips: "Queries: one a step (level), or one (single)",
  fire_threshold: "Energy from which a memory passes on",
  leak_rate: "Part of the energy that stays",
  decay_factor: "Part of the energy that stays after a step",
  spread_factor: "Part of the energy that is passed on",
  use_spreading: "Follow edges",
  spreading_strength: "Part of the energy that is passed on",
  temporal_decay_rate: "How fast old memories fade",
  inhibition_threshold: "Energy from which memories hold others back",
  inhibition_strength: "How much they hold others back",
  min_overlap: "Similarity from which memories count as alike",
  weight_similarity: "Weight of similarity",
  weight_activation: "Weight of energy",
  weight_structural: "Weight of the place in the graph",
  weight_context: "Weight of the situation",
  weight_base_level: "Weight of recent and frequent use",
  weight_feedback: "Weight of feedback",
  weight_priority: "Weight of the priority",
  anchor_top_k_episodes: "Episodes to start from",
  anchor_top_k_facts: "Facts to start from",
  unembedded: "Memories without a vector to start from",
  max_seeds: "Most hits to start from",
};

// A setting in words: `name` as in the settings of a recall, `strategy.max_depth` for one.
export function settingInWords(name) {
  return name === "strategy.name" ? "How energy moves" : (WORDS[name.split(".").at(-1)] ?? spaced(name));
}

const OF_ANY = { budget_tokens: "2000", deadline_s: "10" }; // settings of any recall, with their standard values

export function settingsFields(body, settings) {
  const fields = Object.keys(OF_ANY).map((name) => [name, "", name]);
  for (const [name, value] of Object.entries(settings)) {
    if (["number", "string", "boolean"].includes(typeof value)) fields.push([`strategy.${name}`, value, name]);
  }
  body.replaceChildren(...fields.map(([name, value, plain]) => element("label", { text: `${WORDS[plain] ?? spaced(plain)} `, title: name }, field(name, value))));
}

function field(name, value) {
  if (typeof value === "boolean") {
    const select = element("select", { name }, new Option("yes", "true"), new Option("no", "false"));
    select.value = String(value);
    select.dataset.standard = String(value);
    return select;
  }
  const type = typeof value === "string" && value !== "" ? "text" : "number";
  const input = element("input", { name, type, step: "any", value: String(value), ...(OF_ANY[name] && { placeholder: OF_ANY[name] }) });
  input.dataset.standard = String(value);
  return input;
}

// The settings that differ from their standard values.
export function changedSettings(body) {
  const changed = [...body.querySelectorAll("[name]")].filter((field) => field.value !== "" && field.value !== field.dataset.standard);
  return Object.fromEntries(changed.map((field) => [field.name, valueOf(field)]));
}

function valueOf(field) {
  if (field.type === "number") return Number(field.value);
  return field.tagName === "SELECT" ? field.value === "true" : field.value;
}

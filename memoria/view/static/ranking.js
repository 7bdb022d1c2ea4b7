// All memories in their order, with the shares of five groups of features; each feature on request.

import { grouped, meaningOf } from "./features.js";
import { listed, opener } from "./lists.js";
import { element, number, spaced } from "./words.js";

export function showRanking(body, found, choose) {
  const packed = new Set(found.context.items.map((item) => item.id));
  const make = (entry) => {
    return element(
      "li",
      {},
      opener(found, entry.id, choose),
      element("span", { class: "muted", text: ` ${entry.id} · ${likely(entry)}${packed.has(entry.id) ? " · in the context" : ""}` }),
      element("p", { class: "shares", text: inWords(entry) }),
    );
  };
  const note = found.ranked.some((entry) => Object.keys(entry.shares).length) ? "What speaks for each memory, and what against it." : "Ranked by energy.";
  body.replaceChildren(element("p", { class: "muted", text: note }), ...listed("ol", found.ranked, make));
}

// How likely a memory is to be evidence; without a model of relevance, its score.
export function likely(entry) {
  if (entry.relevance == null) return `score ${number(entry.score)}`;
  const percent = Math.round(entry.relevance * 100);
  return `${percent || "under 1"} % likely to be evidence`;
}

function inWords(entry) {
  return Object.entries(grouped(entry.shares))
    .filter(([, group]) => group.shares.length)
    .map(([name, group]) => `${name} ${signed(group.sum)}`)
    .join(" · ");
}

function signed(share) {
  return `${share < 0 ? "−" : "+"}${number(Math.abs(share))}`;
}

// The groups of one memory as bars, and below them its features.
export function shareTable(entry) {
  const groups = Object.entries(grouped(entry.shares)).filter(([, group]) => group.shares.length);
  const most = Math.max(...groups.map(([, group]) => Math.abs(group.sum)), Number.MIN_VALUE);
  const details = groups.flatMap(([, group]) => group.shares);
  const largest = Math.max(...details.map(([, share]) => Math.abs(share)), Number.MIN_VALUE);
  return [
    table("What speaks for it, and what against it", groups.map(([name, group]) => [name, "", group.sum]), most),
    element("details", {}, element("summary", { text: "Each feature" }), table("The share of each feature", details.map(([name, share]) => [meaningOf(name) ?? spaced(name), ` ${name}`, share]), largest)),
  ];
}

function table(caption, entries, most) {
  const rows = entries.map(([name, small, share]) => {
    const bar = element("span", { class: share < 0 ? "bar less" : "bar" });
    bar.style.inlineSize = `${(100 * Math.abs(share)) / most}%`;
    return element("tr", {}, element("th", { scope: "row" }, name, element("span", { class: "muted", text: small })), element("td", { class: "number", text: signed(share) }), element("td", { class: "bars", "aria-hidden": "true" }, bar));
  });
  return element("table", {}, element("caption", { text: caption }), element("tbody", {}, ...rows));
}

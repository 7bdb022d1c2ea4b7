// What each feature of the ranking says of a memory, in five groups; `RelevanceConfig` has the formulas.

const GROUPS = {
  Meaning: {
    cosine: "it means what the question means",
    cosine_rise: "its meaning is near, not only nearer than others",
    cosine_place: "its place by meaning",
    cosine_first: "it is among the first by meaning",
  },
  Words: {
    bm25: "it holds words of the question",
    bm25_first: "it is among the first by words",
    cosine_bm25: "it fits by meaning and by words",
    coverage: "how many of the question's words it holds",
    beyond_best: "it holds words that the best matches lack",
    heading: "the question names it",
    echo: "it repeats words of the question that the message before it has",
  },
  Relations: {
    carried: "energy came from a seed with words that it lacks",
    chain_beyond: "strong edges lead to it, though it matches little",
    walk_beyond: "many ways lead to it from matches",
    needed: "what needs it is likely to be evidence",
    wanted: "an edge that the question asks for leads to it",
  },
  Conversation: {
    user: "the user said it",
    assistant: "the assistant said it, and the question asks for that",
    speaker: "it was said by somebody whom the question names",
    session: "another message of its session fits the question",
    opening: "the user began a session with it, or it was told by itself",
    in_session: "another message of its session is likely to be evidence",
    reply: "it replies to a message that fits, and the question asks for a reply",
    adjacent: "it is part of a run of memories that are likely to be evidence",
  },
  "Time and use": {
    newest: "a newer statement about the same thing counts instead of an older one",
    conflicts: "it is newer than a memory that it conflicts with",
    in_window: "it was made in the time that the question names",
    in_time: "the question asks for an order in time",
    question_feedback: "it proved right, or wrong, for a question like this one",
    feedback: "it proved right, or wrong, for other questions",
    uses: "it was used often, or not long ago",
    priority: "its priority",
    asked: "it is an earlier question, which answers nothing",
  }, // and whatever has another name
};

const OTHERS = "Time and use";
const GROUP_OF = new Map(Object.entries(GROUPS).flatMap(([group, features]) => Object.keys(features).map((name) => [name, group])));

export function meaningOf(name) {
  return GROUPS[GROUP_OF.get(name)]?.[name];
}

// The shares of a memory by group: {group: {sum, shares: [[name, share], ...]}}, strongest first.
export function grouped(shares) {
  const found = Object.fromEntries(Object.keys(GROUPS).map((group) => [group, { sum: 0, shares: [] }]));
  for (const [name, share] of Object.entries(shares)) {
    if (share === 0) continue;
    const group = found[GROUP_OF.get(name) ?? OTHERS];
    group.sum += share;
    group.shares.push([name, share]);
  }
  for (const group of Object.values(found)) group.shares.sort((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  return found;
}

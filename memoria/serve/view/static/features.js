// What each feature of the ranking says of a memory; `RelevanceConfig` has the formulas.

export const FEATURES = {
  cosine: "it means what the question means",
  cosine_gap: "its meaning stands out from the crowd",
  cosine_rise: "its meaning is near, not only nearer than others",
  cosine_place: "its place by meaning",
  cosine_first: "it is among the first by meaning",
  bm25: "it holds words of the question",
  bm25_first: "it is among the first by words",
  cosine_bm25: "it fits by meaning and by words",
  coverage: "how many of the question's words it holds",
  beyond_best: "it holds words that the best matches lack",
  heading: "the question names it",
  question: "it asks something itself",
  recency: "it is new",
  energy: "energy reached it",
  carried: "energy came from a seed with words that it lacks",
  chain: "strong edges lead to it from a match",
  chain_beyond: "strong edges lead to it, though it matches little",
  support_beyond: "what it is joined to matches",
  walk_beyond: "many ways lead to it from matches",
  needed: "what needs it is likely to be evidence",
};

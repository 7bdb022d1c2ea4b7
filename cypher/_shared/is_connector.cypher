// fragment: is_connector(m)
// Whether a memory only joins others: it carries energy, and is neither a seed, ranked nor packed.
m:Session|Speaker|Topic

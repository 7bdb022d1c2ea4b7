// fragment: compared_vector(m)
// The vector by which a memory is compared.
m.embedding

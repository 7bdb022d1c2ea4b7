// name: doctor.memories
// mode: read
// params: dimensions, directional, limit, scope
// returns: fault STRING, count INTEGER, examples LIST<LIST>
// Faults of memories, among at most limit memories: those of a scope, which an index seek finds;
// or, if scope is null, all memories, by a label scan. examples: [scope, id, element id] of the
// first five. The row of the fault "examined" counts all nodes that were examined, the row
// "connectors" those of them that are connectors, which need neither text nor vector.
// The type of a value is tested before its content, because a query fails when it meets a text
// where it wants a number. A memory without an id or a scope, which nothing can find, is reported
// as that alone: a missing text or vector can't be mended before.
// use: examined_memories()
WITH m, m.embedding AS vector, size(labels(m)) - 1 AS kinds,
     m:Session|Speaker|Topic AS connects,
     NOT (m.id IS :: STRING NOT NULL) OR m.id = '' AS nameless,
     NOT (m.scope IS :: STRING NOT NULL) OR m.scope = '' AS homeless,
     CASE WHEN m.text IS :: STRING NOT NULL THEN trim(m.text) = '' ELSE true END AS blank,
     // The mark of a superseded memory, as doctor.fix_superseded sets it.
     // use: first_superseding(m) AS first
UNWIND [
  'examined',
  CASE WHEN connects THEN 'connectors' END,
  CASE WHEN nameless THEN 'id' END,
  CASE WHEN homeless THEN 'scope' END,
  CASE WHEN blank AND NOT connects AND NOT nameless AND NOT homeless THEN 'text' END,
  CASE WHEN connects AND m.text IS NOT NULL THEN 'connector_text' END,
  CASE
    WHEN connects AND m.connector_name IS NOT NULL
      AND NOT EXISTS { (m)--(other) WHERE NOT other:Session|Speaker|Topic } THEN 'unused_connector'
  END,
  CASE
    WHEN vector IS NULL AND (blank OR connects OR nameless OR homeless) THEN null
    WHEN vector IS NULL THEN 'no_embedding'
    WHEN NOT (// use: is_vector(vector)) THEN 'bad_embedding'
    WHEN size(vector) <> $p.dimensions
      OR NOT any(x IN vector WHERE x <> 0)
      OR NOT all(x IN vector WHERE abs(x) < 1e18) THEN 'bad_embedding'
  END,
  CASE WHEN kinds = 0 THEN 'no_kind' WHEN kinds > 1 THEN 'several_kinds' END,
  CASE WHEN NOT (m.created_at IS :: ZONED DATETIME | LOCAL DATETIME) THEN 'created_at' END,
  CASE WHEN NOT (m.valid_until IS :: ZONED DATETIME) THEN 'valid_until' END,
  CASE
    WHEN m.metadata IS :: STRING NOT NULL AND m.metadata_pairs IS NULL THEN 'metadata_pairs'
  END,
  CASE
    WHEN coalesce(toStringOrNull(m.superseded_by), '') + ' ' + coalesce(toStringOrNull(m.superseded_at), '')
      <> coalesce(toStringOrNull(first[0]), '') + ' ' + coalesce(toStringOrNull(first[1]), '')
    THEN 'superseded'
  END
] AS fault
WITH m, fault WHERE fault IS NOT NULL
RETURN fault, count(*) AS count,
       collect(CASE WHEN NOT fault IN ['examined', 'connectors'] THEN [m.scope, m.id, elementId(m)] END)[..5]
         AS examples

// name: ingest.reembed.transactions
// mode: write
// params:
// returns: ids LIST<STRING>
// The transactions that are running now, this one included.
// It writes nothing. But a server lists its own transactions only, and in a cluster those that write
// run on the leader, to which a query of mode read does not go.
SHOW TRANSACTIONS YIELD transactionId
RETURN collect(transactionId) AS ids

// name: ingest.reembed.transactions
// mode: read
// params:
// returns: ids
// The transactions that are running now, this one included.
SHOW TRANSACTIONS YIELD transactionId
RETURN collect(transactionId) AS ids

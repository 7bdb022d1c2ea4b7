// name: schema-kinds
// mode: schema
// params:
// returns:
// Optional: an index on id for each default kind, for queries of your own that match by kind.
// memoria itself matches :Memory and needs none of them. Names as in source 001, section 9.
//
//   cypher-shell -f schema-kinds.cypher

CREATE INDEX idx_userrequest_id IF NOT EXISTS FOR (n:UserRequest) ON (n.id);
CREATE INDEX idx_usepreference_id IF NOT EXISTS FOR (n:UserPreference) ON (n.id);
CREATE INDEX idx_agentanswer_id IF NOT EXISTS FOR (n:AgentAnswer) ON (n.id);
CREATE INDEX idx_agentaction_id IF NOT EXISTS FOR (n:AgentAction) ON (n.id);
CREATE INDEX idx_event_id IF NOT EXISTS FOR (n:Event) ON (n.id);
CREATE INDEX idx_datasource_id IF NOT EXISTS FOR (n:DataSource) ON (n.id);

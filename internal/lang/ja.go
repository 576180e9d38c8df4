package lang

// japanese are the tables of all parts of the house. A translation has the
// places of its English format; where their order differs it numbers them, as
// in %[2]s. Like the English it has no full stop at its end, because another
// text may go on behind it.
var japanese = []map[string]string{
	jaCalls,
	jaClients,
	jaCommands,
	jaConfig,
	jaDoctor,
	jaEdges,
	jaExchange,
	jaExecutions,
	jaHistory,
	jaResults,
	jaMessages,
	jaN8N,
	jaServers,
	jaWorkflows,
	jaWorkflowDoors,
	jaSignIn, jaVault, jaImport, jaUI,
	jaStores, jaRegistry, jaDeclared, jaLearned, jaEmbed, jaPlugins, jaKnowledge, jaUpkeep, jaTools,
}

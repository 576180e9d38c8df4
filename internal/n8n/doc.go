// Package n8n is the source of the n8n tools: they list, read, create, change, publish
// and delete workflows of an n8n instance, and list its executions.
//
// The tools speak to the public API of n8n (/api/v1). Answers are minimal by default,
// because agents pay for every byte; raw asks for everything. An update never destroys:
// the workflow is read first, merged, saved whole, and restored if n8n refuses it, since
// n8n overwrites the draft even when it answers 400.
//
// Executions are read by package execution, which the source calls through
// ExecutionReader.
package n8n

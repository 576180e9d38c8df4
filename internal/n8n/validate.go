package n8n

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"genkan/internal/gateway"
)

// nodeKeys, settingKeys and workflowKeys are what n8n accepts; it refuses everything else.
// readOnlyKeys are what it refuses, and what the tools leave out by themselves.
func nodeKeys() []string {
	return []string{
		"id", "name", "webhookId", "disabled", "notesInFlow", "notes", "type", "typeVersion", "executeOnce", "alwaysOutputData",
		"retryOnFail", "maxTries", "waitBetweenTries", "continueOnFail", "onError", "position", "parameters", "credentials",
		"customTelemetryTags",
	}
}

func settingKeys() []string {
	return []string{
		"saveExecutionProgress", "saveManualExecutions", "saveDataErrorExecution", "saveDataSuccessExecution", "executionTimeout",
		"errorWorkflow", "timezone", "executionOrder", "binaryMode", "callerPolicy", "callerIds", "timeSavedMode",
		"timeSavedPerExecution", "redactionPolicy", "availableInMCP", "customTelemetryTags", "credentialResolverId",
	}
}

func workflowKeys() []string {
	return []string{"name", "nodes", "connections", "settings", "staticData", "pinData"}
}

func readOnlyKeys() []string {
	return []string{
		"id", "active", "tags", "createdAt", "updatedAt", "versionId", "isArchived", "triggerCount", "meta", "activeVersion",
		"activeVersionId", "versionCounter", "sourceWorkflowId", "parentFolder", "description", "nodeGroups", "shared",
	}
}

// finding is something wrong with a workflow.
type finding struct {
	// warning is set if n8n saves the workflow all the same.
	warning bool
	// field is the argument that is wrong.
	field string
	node  string
	text  gateway.Text
}

type findings []finding

func (f *findings) addError(field, node, format string, values ...any) {
	*f = append(*f, finding{false, field, node, gateway.Textf(format, values...)})
}

func (f *findings) addWarning(node, format string, values ...any) {
	*f = append(*f, finding{true, "", node, gateway.Textf(format, values...)})
}

// check finds what is wrong with a workflow before n8n sees it.
func (w *workflow) check() findings {
	var found findings
	if strings.TrimSpace(w.name()) == "" {
		found.addError("name", "", "name is missing")
	}
	for i, n := range w.nodes {
		w.checkNode(i, n, &found)
	}
	known := append(workflowKeys(), readOnlyKeys()...)
	for _, key := range slices.Sorted(maps.Keys(w.fields)) {
		if !slices.Contains(known, key) {
			found.addError(gateway.Short(key), "", "n8n does not accept the field %s of a workflow", gateway.Short(key))
		}
	}
	var settings map[string]json.RawMessage
	if json.Unmarshal(orNull(w.fields["settings"]), &settings) != nil {
		found.addError("settings", "", "settings must be an object")
	}
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		if slices.Contains(settingKeys(), key) {
			continue
		}
		if near := gateway.Nearest(key, slices.Values(settingKeys())); near != "" {
			found.addError("settings", "", "n8n does not accept settings.%s (did you mean %s?)", gateway.Short(key), near)
		} else {
			found.addError("settings", "", "n8n does not accept settings.%s", gateway.Short(key))
		}
	}
	graph := w.graph()
	for _, n := range graph.Graph {
		for _, to := range n.Dangling {
			found.addError("connections", n.Node, "A connection of '%s' ends at '%s', which does not exist", n.Node, to)
		}
	}
	for _, from := range graph.Dangling {
		found.addError("connections", "", "A connection begins at '%s', which does not exist", from)
	}
	steps := w.steps()
	if len(steps) > 0 && !slices.ContainsFunc(steps, func(n *node) bool { return isTrigger(n.kind) && !n.disabled }) {
		found.addWarning("", "There is no trigger such as a webhook or a schedule, so the workflow cannot be activated")
	}
	return found
}

func (w *workflow) checkNode(i int, n *node, found *findings) {
	if n.name == "" {
		found.addError("nodes", "", "Node %d has no name", i+1)
	}
	if n.kind == "" {
		found.addError("nodes", n.name, "Node '%s' has no type, such as n8n-nodes-base.set", n.name)
	}
	if first := w.find(n.name); n.name != "" && first != n {
		found.addError("nodes", n.name, "Two nodes are called '%s', and connections go by name", n.name)
	}
	if n.id != "" && slices.ContainsFunc(w.nodes[:i], func(before *node) bool { return before.id == n.id }) {
		found.addError("nodes", n.name, "Two nodes have the id '%s'. Leave the id of a new node out", gateway.Short(n.id))
	}
	fields := n.decoded()
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if slices.Contains(nodeKeys(), key) || key == "createdAt" || key == "updatedAt" {
			continue
		}
		if near := gateway.Nearest(key, slices.Values(nodeKeys())); near != "" {
			found.addError("nodes", n.name, "n8n does not accept the field %s of node '%s' (did you mean %s?)", gateway.Short(key), n.name, near)
		} else {
			found.addError("nodes", n.name, "n8n does not accept the field %s of node '%s' (what a node does goes into parameters)", gateway.Short(key), n.name)
		}
	}
}

// refusal returns the first errors among findings as one; nil if there is none.
func refusal(found findings) error {
	const most = 5
	var texts []gateway.Text
	field := ""
	for _, f := range found {
		if !f.warning && len(texts) < most {
			texts = append(texts, f.text)
			field = cmp.Or(field, f.field)
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return &Error{Name: nameValidation, Field: field, Problem: gateway.Textf("%s", gateway.Texts{Each: texts, Between: "; "})}
}

// isTrigger reports whether n8n can activate nodes of a type, to start workflows by
// themselves.
func isTrigger(kind string) bool {
	_, short, _ := strings.Cut(kind, ".")
	switch short {
	case "webhook", "cron", "interval", "emailReadImap":
		return true
	case "manualTrigger":
		return false
	}
	return strings.Contains(strings.ToLower(short), "trigger")
}

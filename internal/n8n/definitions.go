package n8n

import (
	"context"
	"encoding/json"

	"genkan/internal/gateway"
)

// tool is one of the tools.
type tool struct {
	name        string
	description gateway.Text
	properties  []property
	required    []string
	effect      effect
	tags        []string
	// takesWorkflow is set if the arguments are a workflow, which may have the read-only
	// fields that n8n adds.
	takesWorkflow bool
	// aboutExecution is set if id is that of an execution.
	aboutExecution bool
	// openWorld is set if the tool does what a workflow does, which may be anything.
	openWorld bool
	// needsReader is set if the tool needs an ExecutionReader.
	needsReader bool
	run         func(ctx context.Context, s *Source, call *gateway.Call, in *arguments) (answer, error)
}

// effect is the effect of a call on n8n.
type effect uint8

const (
	reads    effect = iota
	adds            // a second call adds again
	sets            // a second call changes nothing more, and nothing is lost
	destroys        // something may be lost; a second call changes nothing more
	changes         // something may be lost; a second call may change more
)

type property struct {
	name        string
	kind        string // the JSON type; "texts" is an array of strings
	description gateway.Text
	enum        []string
	// form shows what the value looks like, in every language.
	form string
}

func (t *tool) known() []string {
	out := make([]string, len(t.properties))
	for i, p := range t.properties {
		out[i] = p.name
	}
	return out
}

func say(format string) gateway.Text { return gateway.Text{Format: format} }

func text(name, description string) property {
	return property{name: name, kind: "string", description: say(description)}
}

func flag(name, description string) property {
	return property{name: name, kind: "boolean", description: say(description)}
}

func number(name, description string) property {
	return property{name: name, kind: "integer", description: say(description)}
}

func texts(name, description string) property {
	return property{name: name, kind: "texts", description: say(description)}
}

func workflowID() property { return text("id", "Workflow ID") }
func raw() property        { return flag("raw", "Everything") }

// statuses are the statuses of executions.
func statuses() []string {
	return []string{"success", "error", "waiting", "running", "canceled", "crashed", "new", "unknown"}
}

// toolTable returns the tools in the order in which they are listed.
func toolTable() []tool {
	return []tool{
		{
			name:        "list_workflows",
			description: say("List n8n workflows (id, name, active)."),
			properties: []property{
				flag("active", ""), texts("tags", "Tag names; all of them"), number("limit", "1-100"), number("offset", ""),
				flag("archived", "Archived ones, too"), raw(),
			},
			effect: reads, run: listWorkflows, tags: []string{"workflow", "automation"},
		},
		{
			name:        "get_workflow",
			description: say("Get a workflow: a summary, single nodes whole (nodeNames), or everything (raw)."),
			properties:  []property{workflowID(), texts("nodeNames", ""), raw()},
			required:    []string{"id"}, effect: reads, run: getWorkflow, tags: []string{"workflow", "node"},
		},
		{
			name:        "get_workflow_connections",
			description: say("Which nodes of a workflow connect to which."),
			properties:  []property{workflowID(), flag("raw", "Add n8n's own form")},
			required:    []string{"id"}, effect: reads, run: getConnections, tags: []string{"workflow", "graph"},
		},
		{
			name:        "create_workflow",
			description: say("Create a workflow."),
			properties: append([]property{text("name", "")}, append(workflowParts(),
				flag("active", "Publish it"), texts("tags", "Tag names; missing ones are created"), raw())...),
			required: []string{"name", "nodes", "connections"}, effect: adds, takesWorkflow: true, run: createWorkflow,
			tags: []string{"workflow", "automation"},
		},
		{
			name: "update_workflow",
			description: say("Change a workflow by operations on single nodes, or by whole nodes, connections, settings; the rest stays. " +
				"Nodes sent without credentials keep theirs. A published workflow gets a draft unless publish is true."),
			properties: append([]property{workflowID(), {
				name: "operations", kind: "array", description: say("Applied in order, all or none: {op:updateNode,node,changes} (objects merge, null removes) | " +
					"{op:addNode,node:{…}} | {op:removeNode,node} | {op:renameNode,node,to} | {op:connect or disconnect,from,to,output,input,type} | " +
					"{op:patchField,node,path:\"parameters.jsCode\",find,replace} (find must occur once)"),
			}, text("name", "")}, append(workflowParts(),
				flag("publish", "Publish the change"), flag("active", "Publish or unpublish"), texts("tags", "Replace the tags"),
				text("versionId", "Fail if the workflow has another version by now"), raw())...),
			required: []string{"id"}, effect: changes, takesWorkflow: true, run: updateWorkflow,
			tags: []string{"workflow", "edit", "node"},
		},
		{
			name:        "delete_workflow",
			description: say("Delete a workflow for good, published or not."),
			properties:  []property{workflowID(), raw()},
			required:    []string{"id"}, effect: destroys, run: deleteWorkflow, tags: []string{"workflow"},
		},
		{
			name:        "create_workflow_from_file",
			description: say("Create a workflow from a JSON file, such as an export of n8n. Its id, active and tags are ignored."),
			properties:  []property{filePath(), raw()},
			required:    []string{"filePath"}, effect: adds, run: createFromFile, tags: []string{"workflow", "import", "file"},
		},
		{
			name:        "replace_workflow_from_file",
			description: say("Replace a workflow completely by a JSON file. Its id, active and tags are ignored. A published workflow gets a draft unless publish is true."),
			properties:  []property{workflowID(), filePath(), flag("publish", "Publish the change"), raw()},
			required:    []string{"id", "filePath"}, effect: destroys, run: replaceFromFile, tags: []string{"workflow", "import", "file"},
		},
		{
			name:        "activate_workflow",
			description: say("Publish the current version of a workflow, so that its triggers run it."),
			properties:  []property{workflowID(), raw()},
			required:    []string{"id"}, effect: sets, run: activateWorkflow, tags: []string{"workflow", "publish"},
		},
		{
			name:        "deactivate_workflow",
			description: say("Unpublish a workflow; its triggers stop."),
			properties:  []property{workflowID(), raw()},
			required:    []string{"id"}, effect: sets, run: deactivateWorkflow, tags: []string{"workflow", "unpublish"},
		},
		{
			name:        "validate_workflow",
			description: say("Check a workflow before it is created, or a saved one (id): names, fields, connections, trigger."),
			properties:  append([]property{workflowID(), text("name", "")}, append(workflowParts(), raw())...),
			effect:      reads, takesWorkflow: true, run: validateWorkflow, tags: []string{"workflow", "lint"},
		},
		{
			name:        "list_executions",
			description: say("List executions of workflows, newest first, running ones included."),
			properties: []property{
				text("workflowId", ""),
				{name: "status", kind: "string", enum: statuses()},
				number("limit", "1-100, usually 20"),
				text("cursor", "nextCursor of the last answer"), raw(),
			},
			effect: reads, run: listExecutions, tags: []string{"execution", "history", "run"},
		},
		{
			name: "search_executions",
			description: say("Find executions by the error of a node, also one that the workflow hid; by status, workflow and time. " +
				"Reads 50 executions a call, newest first."),
			properties: []property{
				text("text", "Part of the error"), text("nodeName", "Node that failed"), text("workflowId", ""),
				{name: "status", kind: "string", enum: statuses()},
				text("after", "ISO time"), text("before", ""), text("cursor", ""), raw(),
			},
			effect: reads, run: searchExecutions, tags: []string{"execution", "error", "debug"},
		},
		{
			name:        "get_execution",
			description: say("Summary of an execution: status, root cause of a failure, and its nodes. Then get_execution_by_node."),
			properties:  []property{executionID(), number("nodeOffset", "Nodes from here on"), raw()},
			required:    []string{"id"}, effect: reads, aboutExecution: true, needsReader: true, run: getExecution,
			tags: []string{"execution", "error", "debug"},
		},
		{
			name:        "get_execution_by_node",
			description: say("What one node of an execution got, did and returned, with its error. At most 50 items."),
			properties: []property{
				executionID(), text("nodeName", "As in get_execution"), number("runIndex", ""), number("outputIndex", ""), text("outputType", ""),
				number("itemOffset", ""), number("itemLimit", "1-50"), raw(),
			},
			required: []string{"id", "nodeName"}, effect: reads, aboutExecution: true, needsReader: true, run: getExecutionByNode,
			tags: []string{"execution", "node", "debug"},
		},
		{
			name: "run_workflow",
			description: say("Run an active workflow through its webhook, form or chat trigger, wait until it is over, " +
				"and get the trigger's answer with the summary of the execution."),
			properties: []property{
				workflowID(),
				{name: "data", kind: "object", description: say("Body or query of a webhook, fields of a form by label, {chatInput} of a chat")},
				text("trigger", "Name of the node, if there are several"), text("method", ""),
				{name: "headers", kind: "object"},
				flag("test", "Use the test URL; n8n's editor must be listening"), number("wait", "Seconds, 1-300, usually 45"), raw(),
			},
			required: []string{"id"}, effect: changes, openWorld: true, needsReader: true, run: runWorkflow,
			tags: []string{"workflow", "execute", "webhook"},
		},
		{
			name:        "retry_execution",
			description: say("Run a failed execution again."),
			properties:  []property{executionID(), flag("loadWorkflow", "With the workflow as it is now"), raw()},
			required:    []string{"id"}, effect: adds, aboutExecution: true, run: retryExecution, tags: []string{"execution", "rerun"},
		},
		{
			name:        "stop_execution",
			description: say("Stop a running or waiting execution."),
			properties:  []property{executionID(), raw()},
			required:    []string{"id"}, effect: destroys, aboutExecution: true, run: stopExecution, tags: []string{"execution", "cancel"},
		},
	}
}

func executionID() property { return text("id", "Execution ID, digits") }

func filePath() property { return text("filePath", "Absolute, or relative to your folder") }

func workflowParts() []property {
	return []property{
		{name: "nodes", kind: "array", form: "[{name,type,typeVersion,position,parameters,credentials}]"},
		{name: "connections", kind: "object", form: `{"From":{"main":[[{"node":"To","type":"main","index":0}]]}}`},
		{name: "settings", kind: "object"},
	}
}

// encode returns the schema of a property.
func (p *property) encode(translate gateway.Translate) map[string]any {
	out := map[string]any{"type": p.kind}
	if p.kind == "texts" {
		out["type"], out["items"] = "array", map[string]any{"type": "string"}
	}
	if p.kind == "array" {
		out["items"] = map[string]any{"type": "object"}
	}
	if p.description.Format != "" {
		out["description"] = p.description.In(translate)
	}
	if p.form != "" {
		out["description"] = p.form
	}
	if p.enum != nil {
		out["enum"] = p.enum
	}
	return out
}

// encode returns the tool in the form that clients get.
func (t *tool) encode(translate gateway.Translate, others []gateway.Translate) gateway.Tool {
	type annotations struct {
		ReadOnly    bool `json:"readOnlyHint"`
		Destructive bool `json:"destructiveHint"`
		Idempotent  bool `json:"idempotentHint"`
		OpenWorld   bool `json:"openWorldHint,omitempty"`
	}
	hints := annotations{t.effect == reads, t.effect >= destroys, t.effect != adds && t.effect != changes, t.openWorld}
	properties := []byte{'{'}
	for i := range t.properties {
		if i > 0 {
			properties = append(properties, ',')
		}
		properties = append(append(append(properties, '"'), t.properties[i].name...), `":`...)
		properties = append(properties, mustEncode(t.properties[i].encode(translate))...)
	}
	labels := &gateway.ToolLabels{Category: "automation", Tags: t.tags}
	for _, other := range others {
		labels.Translations += t.description.In(other) + "\n"
	}
	return gateway.Tool{
		Kind: gateway.KindTool, Name: t.name, ReadOnly: hints.ReadOnly, Idempotent: hints.Idempotent, ChecksArguments: true, Labels: labels,
		Definition: mustEncode(struct {
			Name        string      `json:"name"`
			Description string      `json:"description"`
			InputSchema any         `json:"inputSchema"`
			Annotations annotations `json:"annotations"`
		}{
			t.name, t.description.In(translate),
			struct {
				Type       string          `json:"type"`
				Properties json.RawMessage `json:"properties"`
				Required   []string        `json:"required,omitempty"`
			}{"object", append(properties, '}'), t.required},
			hints,
		}),
	}
}

func mustEncode(v any) []byte {
	raw, err := encodeJSON(v)
	if err != nil {
		panic("n8n: a definition that cannot be encoded")
	}
	return raw
}

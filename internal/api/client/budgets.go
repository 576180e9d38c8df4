package client

// Budgets say how many tokens an answer to an agent may have.
type Budgets struct {
	Everybody Budget   `json:"everybody" doc:"Where nothing else is said."`
	Usual     bool     `json:"usual" doc:"The configuration says nothing for everybody."`
	Default   int      `json:"default" doc:"The tokens that everybody has then."`
	Programs  []Budget `json:"programs" doc:"Programs that are known to have less room."`
	Clients   []Budget `json:"clients" doc:"By the name of their token or of --client."`
	Servers   []Budget `json:"servers"`
	Tools     []Budget `json:"tools" doc:"By server and pattern."`
}

// Budget is how many tokens an answer may have.
type Budget struct {
	Server string `json:"server,omitempty"`
	Name   string `json:"name,omitempty"`
	Tokens int    `json:"tokens" doc:"0 for any number."`
}

package gateway

// Era is a generation of the protocol. Versions within an era differ little;
// the eras differ in who keeps state.
type Era uint8

// The eras of MCP.
const (
	// EraNone is a caller that does not speak MCP: REST, the CLI, a workflow.
	EraNone Era = iota
	// EraLegacy is 2024-11-05 to 2025-11-25: initialize, then a session.
	EraLegacy
	// EraModern is 2026-07-28 and later: every request stands alone.
	EraModern
)

func (e Era) String() string {
	switch e {
	case EraLegacy:
		return "legacy"
	case EraModern:
		return "modern"
	default:
		return "none"
	}
}

// ModernVersion is the version of the modern era.
const ModernVersion = "2026-07-28"

// LegacyVersion is the best of the legacy era.
const LegacyVersion = "2025-11-25"

// LegacyVersions are those of the legacy era, best first. There will be no more:
// session ids name them by their place.
func LegacyVersions() []string {
	return []string{LegacyVersion, "2025-06-18", "2025-03-26", "2024-11-05"}
}

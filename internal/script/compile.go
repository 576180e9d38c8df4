package script

// Program is a script that was compiled. It is immutable.
type Program struct {
	// ID is the hash of what runs.
	ID   string
	Name string
	Code []byte
}

package gateway

// Clients is how many clients have an entry.
func (s *Shares) Clients() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.held)
}

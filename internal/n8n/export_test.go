package n8n

import "time"

// SetSearchTime sets how long search_executions may take.
func (s *Source) SetSearchTime(d time.Duration) { s.searchTime = d }

// SetSettling sets how long n8n may take to put a published version in place.
func (s *Source) SetSettling(d time.Duration) { s.client.settling = d }

package n8n

import "time"

// SetSearchTime sets how long search_executions may take.
func (s *Source) SetSearchTime(d time.Duration) { s.searchTime = d }

package upstream

// toldState is the part of a state whose changes are told.
type toldState struct {
	state                  State
	problem, cause, signIn string
}

// TellState calls Deps.StateChanged with the present state, even if it has been told
// before.
func (s *Server) TellState() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.told = toldState{}
	s.tellState()
}

// signInChanged tells that the server wants a sign-in, or no longer does.
func (s *Server) signInChanged() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tellState()
}

// tellState calls Deps.StateChanged if the state differs from the one that was told
// last. Called with mu held.
func (s *Server) tellState() {
	if s.deps.StateChanged == nil {
		return
	}
	st := s.status()
	if st.State != StateNotResponding {
		st.Problem = s.problem // without how long the present attempt takes
	}
	now := toldState{st.State, s.problem.String(), st.Cause, st.SignIn}
	if now == s.told {
		return
	}
	s.told = now
	s.deps.StateChanged(s, st)
}

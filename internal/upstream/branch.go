package upstream

type branches struct{}

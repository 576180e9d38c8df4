package client

import "time"

// UISession is a browser that has signed in to the web UI.
type UISession struct {
	ID        string    `json:"id"`
	Client    string    `json:"client" doc:"Whose rights the browser has: admin, or the name of a token."`
	CreatedAt time.Time `json:"createdAt" doc:"When it signed in."`
	UsedAt    time.Time `json:"usedAt" doc:"When it was last used, to within ten minutes."`
	EndsAt    time.Time `json:"endsAt" doc:"When it is signed out unless it is used before."`
	Current   bool      `json:"current,omitempty" doc:"It is the browser that asks."`
}

// UISessionList lists the browsers that have signed in.
type UISessionList struct {
	Sessions []UISession `json:"sessions" doc:"The one that was used last comes first."`
}

// EndedUISessions tells how many browsers were signed out.
type EndedUISessions struct {
	Ended int `json:"ended"`
}

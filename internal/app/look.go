package app

import (
	"net/http"
	"path"
	"slices"
	"strings"

	"genkan/internal/catalog"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/guide"
)

// How a view is named that is no list of servers; neither sign can be in a
// server's name.
const (
	profileMark = "@"
	// wholeMark is for a client that says that it wants all tools, whatever it
	// would be shown otherwise.
	wholeMark = "~all:"
)

// viewOf is the view that a request wants of a part of the house: all its tools,
// or the guide to them. A mode that there is none of is a view that there is
// none of.
func viewOf(r *http.Request, part string) string {
	if r.URL.RawQuery == "" {
		return part
	}
	switch mode := r.URL.Query().Get("mode"); mode {
	case "":
		return part
	case config.ModeAll:
		return wholeMark + part
	case config.ModeSearch:
		return guide.Mark + part
	default:
		return "?mode=" + mode
	}
}

// place is the view that a client is shown which asked for one. Whoever names
// none is shown what the configuration says.
func (p *Process) place(who gateway.Identity, view string) string {
	cfg := p.Config()
	if whole, ok := strings.CutPrefix(view, wholeMark); ok {
		return whole
	}
	if name, ok := strings.CutPrefix(view, profileMark); ok {
		if profile, found := cfg.Profile(name); found && profile.Mode == config.ModeSearch {
			return guide.Mark + view
		}
		return view
	}
	if view != "" {
		return view
	}
	client := cfg.Client(who.ClientID)
	if client.Profile != "" {
		view = profileMark + client.Profile
	}
	if client.Mode == config.ModeSearch {
		return guide.Mark + view
	}
	return view
}

// guided puts the guide in place of a view's tools, but for those that are
// pinned; prompts and resources stay.
func (h *house) guided(view string, mounts []catalog.Mount) []catalog.Mount {
	pinned := h.pinned(view)
	for i := range mounts {
		m := mounts[i]
		mounts[i].Allows = func(tool string) bool {
			return m.Allows(tool) && slices.ContainsFunc(pinned, func(glob string) bool { return matches(glob, shownAs(m, tool)) })
		}
	}
	ours := catalog.Mount{
		Source: guide.New(view, func() guide.House { return h.successor() }), Allows: func(string) bool { return true },
		Claim: catalog.ClaimReserved,
	}
	return append([]catalog.Mount{ours}, mounts...)
}

// pinned are the tools that stay in search mode: those of the profile that is
// looked at, and otherwise those of all.
func (h *house) pinned(view string) []string {
	if name, ok := strings.CutPrefix(view, profileMark); ok {
		if profile, found := h.config.Profile(name); found && profile.Pinned != nil {
			return profile.Pinned
		}
	}
	return h.config.Pinned
}

// profiled are the mounts that a profile leaves.
func profiled(all []catalog.Mount, profile config.Profile) []catalog.Mount {
	var mounts []catalog.Mount
	for _, m := range all {
		if profile.Servers != nil && !slices.Contains(profile.Servers, m.Source.Name()) {
			continue
		}
		allows := m.Allows
		m.Allows = func(tool string) bool { return allows(tool) && profile.Tools.Allows(shownAs(m, tool)) }
		mounts = append(mounts, m)
	}
	return mounts
}

// shownAs is the name that clients use, before it is shortened.
func shownAs(m catalog.Mount, tool string) string {
	if m.Prefix == "" {
		return tool
	}
	return m.Prefix + "__" + tool
}

func matches(glob, name string) bool {
	ok, err := path.Match(glob, name)
	return ok && err == nil
}

package app

import (
	"net/http"
	"path"
	"slices"

	"genkan/internal/catalog"
	"genkan/internal/config"
	"genkan/internal/gateway"
	"genkan/internal/guide"
)

// requestedView returns the view that the URL of a request selects.
func requestedView(r *http.Request) gateway.View {
	view := gateway.View{Profile: r.PathValue("profile")}
	if server := r.PathValue("server"); server != "" {
		view.Servers = gateway.NewServerSet(server)
	}
	if r.URL.RawQuery != "" {
		view.Mode = r.URL.Query().Get("mode")
	}
	return view
}

// place completes the view that a client asked for with what the configuration
// says about the client and the profile.
func (p *Process) place(who gateway.Identity, view gateway.View) gateway.View {
	cfg := p.Config()
	if view == (gateway.View{}) {
		client := cfg.Client(who.ClientID)
		view.Profile, view.Mode = client.Profile, client.Mode
	} else if view.Mode == "" {
		if profile, found := cfg.Profile(view.Profile); found {
			view.Mode = profile.Mode
		}
	}
	if view.Mode == gateway.ModeAll {
		view.Mode = ""
	}
	return view
}

// guided replaces the tools of a view by those of the guide, except for pinned
// ones. Prompts and resources stay.
func (h *house) guided(view gateway.View, mounts []catalog.Mount) []catalog.Mount {
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
func (h *house) pinned(view gateway.View) []string {
	if profile, found := h.config.Profile(view.Profile); found && profile.Pinned != nil {
		return profile.Pinned
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

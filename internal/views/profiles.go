package views

import (
	"path"
	"slices"

	"genkan/internal/catalog"
	"genkan/internal/config"
	"genkan/internal/gateway"
)

// Place completes the view that a client asked for with what the configuration
// says about the client and the profile, and with its audience.
func (v *Views) Place(who gateway.Identity, view gateway.View) gateway.View {
	cfg := v.opt.Config
	view = view.Shared()
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
	if v.opt.HasLists != nil {
		view.Audience = who.ClientID
	}
	return view
}

// searched replaces the tools of a view by those for searching them, except for
// pinned ones. Prompts and resources stay.
func (v *Views) searched(view gateway.View, mounts []catalog.Mount) []catalog.Mount {
	pinned := v.pinned(view)
	for i := range mounts {
		m := mounts[i]
		mounts[i].Allows = func(tool string) bool {
			return m.Allows(tool) && slices.ContainsFunc(pinned, func(glob string) bool { return matches(glob, exposed(m, tool)) })
		}
	}
	return append([]catalog.Mount{reserved(v.opt.Guide(view))}, mounts...)
}

// pinned returns the tools that stay in the list in search mode: those of the
// view's profile if it names any.
func (v *Views) pinned(view gateway.View) []string {
	if profile, found := v.opt.Config.Profile(view.Profile); found && profile.Pinned != nil {
		return profile.Pinned
	}
	return v.opt.Config.Pinned
}

// inProfile returns the mounts of a profile.
func inProfile(all []catalog.Mount, profile config.Profile) []catalog.Mount {
	var mounts []catalog.Mount
	for _, m := range all {
		if profile.Servers != nil && !slices.Contains(profile.Servers, m.Source.Name()) {
			continue
		}
		allows := m.Allows
		m.Allows = func(tool string) bool { return allows(tool) && profile.Tools.Allows(exposed(m, tool)) }
		mounts = append(mounts, m)
	}
	return mounts
}

// exposed is the name that clients use for a tool, before it is shortened.
func exposed(m catalog.Mount, tool string) string {
	if m.Prefix == "" {
		return tool
	}
	return m.Prefix + "__" + tool
}

func matches(glob, name string) bool {
	ok, err := path.Match(glob, name)
	return ok && err == nil
}

package setup

import (
	"context"
	"maps"
	"os"
	"slices"

	"genkan/internal/clients"
	"genkan/internal/config"
	"genkan/internal/gateway"
)

// ImportChoice says which servers of a plan to import.
type ImportChoice struct {
	Selection
	// Revision is that of the plan. An import does only what the plan showed.
	Revision string
	// Servers are names of a person's own servers. ProjectServers are names of
	// servers that came with a project; naming one agrees that its command runs.
	Servers, ProjectServers []string
	// Values are those of needed inputs, by the name of their secret.
	Values map[string]gateway.Secret
}

// ImportResult is what an import did.
type ImportResult struct {
	ConfigFile string
	// Added are the names of the servers that are in the configuration now.
	Added []string
}

// Import adds the chosen servers to genkan's configuration and their secrets to
// the vault. Without a choice it only remembers which entries are known servers.
func (s *Setup) Import(ctx context.Context, choice ImportChoice) (ImportResult, error) {
	s.changing.Lock()
	defer s.changing.Unlock()
	out := ImportResult{ConfigFile: s.opt.ConfigFile}
	plan, err := s.PlanImport(ctx, choice.Selection)
	if err != nil {
		return out, err
	}
	if plan.Revision != choice.Revision {
		return out, gateway.Errorf(gateway.CodeConflict, "nothing was imported, because files have changed since the plan was made; look at the plan again")
	}
	chosen, err := plan.chosen(choice)
	if err != nil {
		return out, err
	}
	values, err := plan.values(chosen, choice.Values)
	if err != nil {
		return out, err
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if err := s.opt.SaveSecret(ctx, name, values[name]); err != nil {
			return out, err
		}
	}
	if len(chosen) > 0 {
		if err := s.addServers(chosen, plan.source); err != nil {
			return out, err
		}
	}
	if err := s.remember(slices.Concat(plan.known(), chosen)); err != nil {
		return out, err
	}
	for _, f := range chosen {
		out.Added = append(out.Added, f.Name)
	}
	return out, nil
}

func (p *ImportPlan) known() []clients.Found {
	return slices.DeleteFunc(slices.Clone(p.found), func(f clients.Found) bool { return !f.Known })
}

// chosen returns the chosen servers, in the order of the plan.
func (p *ImportPlan) chosen(choice ImportChoice) ([]clients.Found, error) {
	byName := map[string]clients.Found{}
	for _, f := range p.found {
		byName[f.Name] = f
	}
	wanted := map[string]bool{}
	for _, name := range slices.Concat(choice.Servers, choice.ProjectServers) {
		f, ok := byName[name]
		confirmed := slices.Contains(choice.ProjectServers, name)
		switch {
		case !ok:
			return nil, gateway.Errorf(gateway.CodeInvalid, "there is no server %q in the plan", gateway.Short(name))
		case f.Known:
			return nil, gateway.Errorf(gateway.CodeInvalid, "genkan has the server %s already", name)
		case f.Project && !confirmed:
			return nil, gateway.Errorf(gateway.CodeInvalid, "server %s came with a project, whose authors chose what it runs; name it in projectServers to agree to that", name)
		case !f.Project && confirmed:
			return nil, gateway.Errorf(gateway.CodeInvalid, "server %s did not come with a project; name it in servers", name)
		}
		wanted[name] = true
	}
	var all []clients.Found
	for _, f := range p.found {
		if wanted[f.Name] {
			f.Env, f.Headers, f.Args = maps.Clone(f.Env), maps.Clone(f.Headers), slices.Clone(f.Args)
			all = append(all, f)
		}
	}
	return all, nil
}

// values returns the secrets to keep for the chosen servers: literal ones, and the
// given or default values of inputs. It puts references where inputs with a value
// stand.
func (p *ImportPlan) values(chosen []clients.Found, given map[string]gateway.Secret) (map[string]gateway.Secret, error) {
	keep, asked := map[string]gateway.Secret{}, map[string]bool{}
	for i := range chosen {
		f := &chosen[i]
		for _, in := range f.Inputs {
			if !p.needed(in) {
				continue
			}
			asked[in.Secret] = true
			value := given[in.Secret]
			if value == "" {
				value = gateway.Secret(defaultOf(in))
			}
			if keep[in.Secret] == "" {
				keep[in.Secret] = value
			}
			if keep[in.Secret] != "" { // without a value, the server reports what it lacks
				f.ReferInput(in)
			}
		}
	}
	for name := range given {
		if !asked[name] {
			return nil, gateway.Errorf(gateway.CodeInvalid, "no chosen server needs a value of %q", gateway.Short(name))
		}
	}
	maps.DeleteFunc(keep, func(_ string, value gateway.Secret) bool { return value == "" })
	for _, f := range chosen {
		for _, l := range f.Secrets {
			keep[l.Variable] = l.Value
		}
	}
	return keep, nil
}

// addServers writes servers into genkan's configuration. It changes nothing if the
// result is not a valid configuration.
func (s *Setup) addServers(chosen []clients.Found, from config.Sources) error {
	var servers []clients.Server
	for _, f := range chosen {
		servers = append(servers, f.Server)
	}
	if err := s.makeDataDir(); err != nil {
		return err
	}
	if !s.opt.ConfigRequired {
		config.WriteExample(s.opt.ConfigFile)
	}
	_, err := s.Backups().AddOwn(s.opt.ConfigFile, servers, func(out []byte) error {
		_, err := config.Parse(out, s.opt.ConfigFile, from, s.opt.Flags)
		return err
	})
	if err != nil {
		e := gateway.AsError(err)
		return &gateway.Error{
			Code: e.Code, Err: e.Err,
			Message: "%s\nthe configuration was not changed; these are the servers, to be added by hand:\n%s",
			Values:  []any{e, clients.Snippet(servers)},
		}
	}
	return nil
}

// remember records which entries became which servers.
func (s *Setup) remember(found []clients.Found) error {
	imports, err := s.imports()
	if err != nil {
		return err
	}
	for _, f := range found {
		imports.Add(f)
	}
	if len(imports.Servers) == 0 {
		return nil
	}
	if err := os.MkdirAll(s.opt.DataDir, 0o700); err != nil {
		return err
	}
	return imports.Save(ImportsFile(s.opt.DataDir))
}

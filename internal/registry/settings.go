package registry

import (
	"context"
	"maps"
	"slices"
	"strings"

	"genkan/internal/clients"
	"genkan/internal/config"
	"genkan/internal/gateway"
)

// settingKeys are the keys of the configuration file that ChangeSettings can change.
func settingKeys() []string {
	return []string{"lang", "rateLimit", "budget", "record", "learn", config.N8NSource, embeddings}
}

// embeddings is the key of the model that compares texts, apiKey the key of an n8n
// instance and of that model that holds a secret.
const (
	embeddings = "embeddings"
	apiKey     = "apiKey"
)

// Settings returns the settings that the configuration file has, as a JSON object by
// their keys there. Literal secrets are masked, and n8n is a list.
func (r *Registry) Settings() ([]byte, error) {
	settings, err := r.currentSettings()
	if err != nil {
		return nil, err
	}
	return maskedSettings(settings).json(), nil
}

// currentSettings reads the settings from the configuration file. Without the file there
// are none.
func (r *Registry) currentSettings() (definition, error) {
	src, _, err := clients.Contents(r.opt.ConfigFile)
	if err != nil {
		return nil, err
	}
	return r.settingsOf(src)
}

// ChangeSettings changes settings in the configuration file and puts them into force.
// raw is a JSON object by their keys; null removes one. Literal keys of n8n instances
// and models are kept in the vault. Masked values stand for the values that they were
// shown for.
func (r *Registry) ChangeSettings(ctx context.Context, raw []byte) error {
	given, err := parseDefinition(raw)
	if err != nil {
		return err
	}
	return r.alone(ctx, func(stored []config.StoredServer) error {
		src, err := r.contents(func(_ []byte, why gateway.Text) error {
			return gateway.Errorf(gateway.CodeConflict, "settings are in %s: %s", r.opt.ConfigFile, why)
		})
		if err != nil {
			return err
		}
		current, err := r.settingsOf(src)
		if err != nil {
			return err
		}
		if err := r.checkSettings(ctx, given, current); err != nil {
			return err
		}
		saved, err := r.saveKeys(ctx, given, current)
		if err == nil {
			var out []byte
			out, err = clients.SetOwn(r.opt.ConfigFile, src, given.json())
			err = r.replaceFile(ctx, src, out, err, stored)
		}
		if err != nil {
			r.deleteSecrets(saved)
			return err
		}
		r.opt.Log.Info("settings were changed", "file", r.opt.ConfigFile, "settings", slices.Sorted(maps.Keys(given)), "secrets", saved)
		return nil
	})
}

// N8N returns an n8n instance that was given as an item of the setting n8n, for a test.
func (r *Registry) N8N(ctx context.Context, raw []byte) (config.N8N, error) {
	instance, err := parseDefinition(raw)
	if err != nil {
		return config.N8N{}, err
	}
	cfg, err := r.given(ctx, definition{config.N8NSource: []any{map[string]any(instance)}})
	if err != nil {
		return config.N8N{}, err
	}
	return cfg.N8N[0], nil
}

// Embeddings returns a model that was given as the setting embeddings, for a test.
func (r *Registry) Embeddings(ctx context.Context, raw []byte) (config.Embeddings, error) {
	model, err := parseDefinition(raw)
	if err != nil {
		return config.Embeddings{}, err
	}
	cfg, err := r.given(ctx, definition{"embeddings": map[string]any(model)})
	if err != nil {
		return config.Embeddings{}, err
	}
	return cfg.Embeddings, nil
}

// given returns the configuration of settings that are not kept.
func (r *Registry) given(ctx context.Context, given definition) (*config.Config, error) {
	current, err := r.currentSettings()
	if err != nil {
		return nil, err
	}
	if err := given.restoreSettings(current); err != nil {
		return nil, err
	}
	return config.CheckSettings(given.json(), r.sources(ctx))
}

// settingsOf returns the settings of the configuration file, with n8n as a list of
// instances that have names.
func (r *Registry) settingsOf(src []byte) (definition, error) {
	raw, err := clients.OwnSettings(r.opt.ConfigFile, src, settingKeys())
	if err != nil {
		return nil, notInOrder(err)
	}
	settings, err := parseDefinition(raw)
	if err != nil {
		return nil, err
	}
	if one, ok := settings[config.N8NSource].(map[string]any); ok {
		settings[config.N8NSource] = []any{one}
	}
	for _, holder := range settings.instances() {
		if _, named := holder["name"].(string); !named {
			holder["name"] = config.N8NSource
		}
	}
	return settings, nil
}

// instances returns the n8n instances.
func (d definition) instances() (all []map[string]any) {
	list, _ := d[config.N8NSource].([]any)
	for _, item := range list {
		if one, ok := item.(map[string]any); ok {
			all = append(all, one)
		}
	}
	return all
}

// holders returns the settings that have a key, by the name of that key in the
// vault.
func (d definition) holders() map[string]map[string]any {
	all := map[string]map[string]any{}
	for _, one := range d.instances() {
		name, _ := one["name"].(string)
		if name == "" {
			name = config.N8NSource
		}
		all[secretName(name)] = one
	}
	if model, ok := d[embeddings].(map[string]any); ok {
		all[secretName(embeddings)] = model
	}
	return all
}

func secretName(holder string) string {
	return strings.ToUpper(strings.ReplaceAll(holder, "-", "_")) + "_API_KEY"
}

// maskedSettings returns a copy without literal secrets.
func maskedSettings(settings definition) definition {
	shown := settings.clone()
	for _, holder := range shown.holders() {
		if key, ok := holder[apiKey].(string); ok && key != "" {
			holder[apiKey] = maskLiterals(key)
		}
	}
	return shown
}

// restoreSettings replaces masked values with those that they were shown for. An n8n
// instance is found by its name.
func (d definition) restoreSettings(current definition) error {
	shown, before := maskedSettings(current).holders(), current.holders()
	for name, holder := range d.holders() {
		if _, err := restoreValue(strings.ToLower(strings.TrimSuffix(name, "_API_KEY")), holder, shown[name], before[name]); err != nil {
			return err
		}
	}
	return nil
}

// checkSettings replaces masked values of settings and checks them by the rules of the
// configuration file.
func (r *Registry) checkSettings(ctx context.Context, given, current definition) error {
	if err := given.restoreSettings(current); err != nil {
		return err
	}
	wanted := given.clone()
	for key, value := range wanted {
		if value == nil {
			delete(wanted, key)
		}
	}
	_, err := config.CheckSettings(wanted.json(), r.sources(ctx))
	return err
}

// saveKeys moves literal keys into the vault and leaves references in their place, but
// for those that the file has already. It returns the names of the saved secrets also
// with an error.
func (r *Registry) saveKeys(ctx context.Context, given, current definition) (saved []string, err error) {
	before := current.holders()
	for name, holder := range given.holders() {
		key, _ := holder[apiKey].(string)
		if key == "" || reference.MatchString(key) || before[name][apiKey] == key {
			continue
		}
		free, err := r.freeSecretName(ctx, name)
		if err != nil {
			return saved, err
		}
		if err := r.opt.Vault.Save(ctx, SecretPrefix+free, gateway.Secret(key)); err != nil {
			return saved, err
		}
		saved = append(saved, free)
		holder[apiKey] = "${secret:" + free + "}"
	}
	return saved, nil
}

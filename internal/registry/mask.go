package registry

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"genkan/internal/clients"
	"genkan/internal/gateway"
)

// mask replaces literal secrets in answers.
const mask = "***"

// masked returns a copy without literal secrets, which may be shown. The secrets
// of a registered server are in the vault, so only text that looks like a secret
// is masked. In the configuration file any literal text of env and headers may be
// a secret, so all of it is masked.
func (d definition) masked(name string, registered bool) definition {
	shown := d.clone()
	_ = shown.replaceSecrets(name, func(clients.Literal) (string, error) { return mask, nil })
	for _, key := range []string{"env", "headers"} {
		values, _ := shown[key].(map[string]any)
		for name, value := range values {
			text, ok := value.(string)
			switch {
			case !ok || text == "":
			case registered:
				values[name] = reference.ReplaceAllStringFunc(text, func(ref string) string { return maskDefault(name, ref) })
			default:
				values[name] = maskLiterals(text)
			}
		}
	}
	return shown
}

// reference matches ${…} in a definition. A match that begins with $$ is escaped
// text and not a reference.
var reference = regexp.MustCompile(`\$?\$\{[^}]*\}`)

// maskDefault masks the default value of a reference if it looks like a secret.
func maskDefault(name, ref string) string {
	before, after, _ := strings.Cut(ref, ":-")
	fallback := strings.TrimSuffix(after, "}")
	part := clients.Server{Env: map[string]gateway.Secret{name: gateway.Secret(fallback)}}
	if len(clients.Literals(part)) == 0 {
		return ref
	}
	return before + ":-" + mask + "}"
}

// maskLiterals masks everything in a text but its references and an authorization
// scheme such as "Bearer".
func maskLiterals(text string) string {
	var b strings.Builder
	masked := false
	literal := func(text string) {
		switch {
		case text == "" || masked:
		case slices.Contains([]string{"bearer ", "basic ", "token "}, strings.ToLower(text)):
			b.WriteString(text)
		default:
			b.WriteString(mask)
			masked = true
		}
	}
	end := 0
	for _, at := range reference.FindAllStringIndex(text, -1) {
		ref := text[at[0]:at[1]]
		if strings.HasPrefix(ref, "$$") {
			continue
		}
		literal(text[end:at[0]])
		if before, _, hasDefault := strings.Cut(ref, ":-"); hasDefault {
			ref = before + ":-" + mask + "}"
		}
		b.WriteString(ref)
		end, masked = at[1], false
	}
	literal(text[end:])
	return b.String()
}

// restoreMasked replaces each masked value with the value that it was shown for in
// before, the current definition of the server; nil if there is none. It refuses
// a masked value that before does not show at that place.
func (d definition) restoreMasked(name string, before definition, registered bool) error {
	var shown definition
	if before != nil {
		shown = before.masked(name, registered)
	}
	restored, err := restoreValue("", map[string]any(d), map[string]any(shown), map[string]any(before))
	if err != nil {
		return err
	}
	for key, value := range restored.(map[string]any) { //nolint:forcetypeassert // the type of the first argument
		d[key] = value
	}
	return nil
}

// restoreValue is restoreMasked for the value at a path. shown and before are the
// values at the same path in the masked and in the current definition.
func restoreValue(path string, given, shown, before any) (any, error) {
	switch given := given.(type) {
	case string:
		if !strings.Contains(given, mask) {
			return given, nil
		}
		if text, ok := shown.(string); ok && text == given {
			return before, nil
		}
		e := gateway.Errorf(gateway.CodeInvalid, "%s holds %s, which stands for a secret in answers; give the secret itself, or a reference such as ${secret:NAME}", path, mask)
		e.Field = path
		return nil, e
	case map[string]any:
		shown, _ := shown.(map[string]any)
		before, _ := before.(map[string]any)
		for _, key := range slices.Sorted(maps.Keys(given)) { // report the same error each time
			value, inner := given[key], key
			if path != "" {
				inner = path + "." + key
			}
			restored, err := restoreValue(inner, value, shown[key], before[key])
			if err != nil {
				return nil, err
			}
			given[key] = restored
		}
		return given, nil
	case *toolOptions: // they are shown unmasked
		for _, name := range given.order {
			if _, err := restoreValue(path+"."+name, given.byName[name], nil, nil); err != nil {
				return nil, err
			}
		}
		return given, nil
	case []any:
		shown, _ := shown.([]any)
		before, _ := before.([]any)
		for i, value := range given {
			var shownItem, itemBefore any
			if i < len(shown) && i < len(before) {
				shownItem, itemBefore = shown[i], before[i]
			}
			restored, err := restoreValue(path+"["+strconv.Itoa(i)+"]", value, shownItem, itemBefore)
			if err != nil {
				return nil, err
			}
			given[i] = restored
		}
		return given, nil
	default:
		return given, nil
	}
}

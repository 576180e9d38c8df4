package config

import (
	"net/url"
	"strings"

	"genkan/internal/gateway"
)

// oauth reads how to sign in to a server: an object, or false for never.
func (d *decoder) oauth(n *node, at string) OAuth {
	var o OAuth
	if n.kind == kindBool {
		if n.text == "true" {
			d.problems.add(n.at, "%s: true says nothing; a server that asks for sign-in is signed in to with `genkan login`, so remove it, or write false for never", at)
		}
		o.Off = n.text == "false"
		return o
	}
	if n.kind != kindMap {
		d.problems.add(n.at, "%s must be a map, or false for a server that is never signed in to; found %s", at, n.kind.text())
		return o
	}
	d.object(n, at, d.oauthFields(&o))
	if o.ClientID == "" && (o.ClientSecret != "" || o.Issuer != "") && len(d.unresolved) == 0 {
		d.problems.add(n.at, "%s needs clientId when it has clientSecret or issuer: they belong to a client that was registered by hand", at)
	}
	return o
}

func (d *decoder) oauthFields(o *OAuth) []field {
	texts := func(into *[]string, check func(string) error) func(*node, string) {
		return func(n *node, at string) {
			d.list(n, at, func(_ string, item *node, at string) {
				if v, ok := d.expanded(item, at, check); ok {
					*into = append(*into, v)
				}
			})
		}
	}
	return []field{
		{"clientId", func(n *node, at string) { o.ClientID, _ = d.expanded(n, at, checkClientText) }},
		{"clientSecret", func(n *node, at string) {
			v, _ := d.expanded(n, at, checkClientText)
			o.ClientSecret = gateway.Secret(v)
		}},
		{"issuer", func(n *node, at string) { o.Issuer, _ = d.expanded(n, at, checkURL) }},
		{"scopes", texts(&o.Scopes, checkScope)},
		{"redirectPort", func(n *node, at string) { o.RedirectPort, _ = d.integer(n, at, 1, 65535) }},
		{"privateHosts", texts(&o.PrivateHosts, func(s string) error {
			_, err := checkHost(s)
			return err
		})},
	}
}

func (d *decoder) fileOAuthFields(l *layer) []field {
	return []field{{"clientMetadataUrl", func(n *node, at string) {
		if v, ok := d.checked(n, at, checkMetadataURL); ok {
			l.clientMetadataURL = v
		}
	}}}
}

// checkClientText never repeats the text, which may be a secret.
func checkClientText(s string) error {
	if s == "" {
		return flawf("is empty")
	}
	return checkHeader(s)
}

// checkScope keeps to RFC 6749, section 3.3, where a blank ends a scope.
func checkScope(s string) error {
	if s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '"' || r == '\\' }) {
		return flawf("must be one scope: no blanks, quotes or backslashes; write several as a list")
	}
	return nil
}

// checkMetadataURL: the address is the client's name, which authorization
// servers fetch.
func checkMetadataURL(s string) (string, error) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" || u.Hostname() == "" || strings.Trim(u.Path, "/") == "" || u.Fragment != "" || u.User != nil {
		return "", flawf("must be an https:// address with a path, such as https://example.com/genkan.json")
	}
	return s, nil
}

package signin

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// zone classifies an address by its distance from the public internet.
type zone uint8

const (
	public zone = iota
	// inside is this machine and its networks.
	inside
	// forbidden addresses belong to no server that anybody signs in to:
	// link-local addresses (cloud metadata among them), broadcast and reserved
	// ones.
	forbidden
)

// Ranges that netip does not classify. 198.18.0.0/15 is missing on purpose: local
// proxies use its addresses for all names.
var (
	insidePrefixes = []netip.Prefix{
		netip.MustParsePrefix("100.64.0.0/10"), // carriers, VPNs, and one cloud's metadata
		netip.MustParsePrefix("fec0::/10"),
	}
	forbiddenPrefixes = []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"),
		netip.MustParsePrefix("100.100.100.200/32"), // metadata
		netip.MustParsePrefix("192.0.0.0/24"),
		netip.MustParsePrefix("192.0.2.0/24"),
		netip.MustParsePrefix("198.51.100.0/24"),
		netip.MustParsePrefix("203.0.113.0/24"),
		netip.MustParsePrefix("240.0.0.0/4"),
		netip.MustParsePrefix("100::/64"),
		netip.MustParsePrefix("2001::/32"), // Teredo: the real address is hidden in it
		netip.MustParsePrefix("2001:db8::/32"),
		netip.MustParsePrefix("fd00:ec2::/32"), // metadata
	}
	carriers = []carrier{
		{netip.MustParsePrefix("64:ff9b::/96"), 12}, // NAT64
		{netip.MustParsePrefix("2002::/16"), 2},     // 6to4
	}
)

// carrier is an IPv6 prefix that embeds an IPv4 address, and the byte at which it
// begins.
type carrier struct {
	prefix netip.Prefix
	at     int
}

// zoneOf returns the zone of an address. It unwraps IPv4 addresses that are
// embedded in IPv6 ones.
func zoneOf(ip netip.Addr) zone {
	ip = ip.WithZone("").Unmap()
	for _, c := range carriers {
		if raw := ip.As16(); c.prefix.Contains(ip) {
			return zoneOf(netip.AddrFrom4([4]byte(raw[c.at : c.at+4])))
		}
	}
	for _, p := range forbiddenPrefixes {
		if p.Contains(ip) {
			return forbidden
		}
	}
	if !ip.IsValid() || ip.IsUnspecified() || ip.IsMulticast() || ip.IsLinkLocalUnicast() {
		return forbidden
	}
	for _, p := range insidePrefixes {
		if p.Contains(ip) {
			return inside
		}
	}
	if ip.IsLoopback() || ip.IsPrivate() {
		return inside
	}
	return public
}

// isLoopbackName reports whether a host name means this machine.
func isLoopbackName(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.Unmap().IsLoopback()
}

// sameHost compares host names. All names of this machine are equal.
func sameHost(a, b string) bool {
	if isLoopbackName(a) && isLoopbackName(b) {
		return true
	}
	return strings.EqualFold(strings.TrimSuffix(a, "."), strings.TrimSuffix(b, "."))
}

// parseEndpoint parses an address that tokens or codes may be sent to: HTTPS, or
// HTTP on this machine, without user info or fragment.
func parseEndpoint(raw string) (*url.URL, bool) {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || u.User != nil || u.Fragment != "" || u.Opaque != "" {
		return nil, false
	}
	safe := u.Scheme == "https" || u.Scheme == "http" && isLoopbackName(u.Hostname())
	return u, safe
}

// origin returns an address without its path.
func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

// permits reports whether an address may be dialed for a host. A server must not
// make genkan connect to internal networks. Those are allowed only if the
// configured server is there itself, and only its own host, or for a host that
// the configuration allows.
func (s Server) permits(host string, ip netip.Addr) bool {
	if isLoopbackName(host) && !ip.Unmap().IsLoopback() {
		return false
	}
	own := s.host()
	switch zoneOf(ip) {
	case public:
		return true
	case inside:
		if sameHost(host, own) {
			return true
		}
		for _, trusted := range s.PrivateHosts {
			if sameHost(host, trusted) {
				return true
			}
		}
		return false
	default: // forbidden
		// Allowed only if the configuration contains the address itself.
		literal, err := netip.ParseAddr(own)
		return err == nil && literal == ip && sameHost(host, own)
	}
}

// permitsName is permits for host names that are not resolved.
func (s Server) permitsName(host string) bool {
	if ip, err := netip.ParseAddr(host); err == nil {
		return s.permits(host, ip)
	}
	if isLoopbackName(host) {
		return s.permits(host, netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	}
	// Browsers read 2130706433 and 0x7f.1 as this machine; no real host name ends
	// in a number.
	labels := strings.Split(strings.TrimSuffix(host, "."), ".")
	_, err := strconv.ParseUint(labels[len(labels)-1], 0, 64)
	return err != nil
}

func (s Server) host() string {
	u, err := url.Parse(s.URL)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

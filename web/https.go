package web

import (
	"net/netip"
	"strings"

	"github.com/gofiber/fiber/v2"

	"cointill/core/fault"
)

// requireHTTPS refuses an API call over plain http where the base URL is https: its key
// could be read on the way. This server speaks plain http itself, so only the proxy in
// front knows the scheme; if the proxy doesn't send it, the error says which header is
// missing. Health checks are no calls.
func (s *Server) requireHTTPS(c *fiber.Ctx) error {
	if !s.https || !isAPI(c.Path()) {
		return nil
	}
	peer, _ := netip.AddrFromSlice(c.Context().RemoteIP())
	if peer = peer.Unmap(); !s.knowsScheme(peer) {
		return fault.New(fault.Forbidden, "https_required",
			"%s If a proxy passed the request on, the operator of this server adds the proxy's address, %s, to "+
				"COINTILL_TRUSTED_PROXIES.", plainSentence(s.base), peer)
	}
	said := 0
	for _, line := range c.Request().Header.PeekAll(fiber.HeaderXForwardedProto) { // each proxy on the way may add one
		for scheme := range strings.SplitSeq(string(line), ",") {
			if said++; !strings.EqualFold(strings.TrimSpace(scheme), "https") {
				return fault.New(fault.Forbidden, "https_required", "%s", plainSentence(s.base))
			}
		}
	}
	if said == 0 {
		return fault.New(fault.Forbidden, "https_unknown",
			"The API is reached by https only, and nothing says how this request came. "+
				"The operator of this server has the proxy in front of it send X-Forwarded-Proto: https.")
	}
	return nil
}

func plainSentence(base string) fault.Message {
	return fault.NewMessage("The API is reached by https only: %s. This request came by plain http. Replace the API key "+
		"if it carried one.", base)
}

// knowsScheme reports whether a peer is believed about how a request came: the proxies that
// the operator trusts, or this machine itself while none is named.
func (s *Server) knowsScheme(peer netip.Addr) bool {
	if len(s.proxies) == 0 {
		return peer.IsLoopback()
	}
	return s.trusted(peer)
}

// isAPI reports whether a path is one of the API's.
func isAPI(path string) bool { return path == "/v1" || strings.HasPrefix(path, "/v1/") }

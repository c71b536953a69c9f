package dashboard_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"cointill/core/scope"
	"cointill/internal/testing/servertest"
)

// offered finds what a page leads to: links, and the addresses of its forms.
var offered = regexp.MustCompile(`(?:href|(method="post") action)="(/dashboard[^"]*)"`)

// switchedOff is a form whose only button can't be pressed: it shows how things stand.
var switchedOff = regexp.MustCompile(`<form[^>]*><input[^>]*><button[^>]* disabled`)

// is reports whether a path is one of the row's route.
func (r row) is(method, path string) bool {
	want, got := strings.Split(r.path, "/"), strings.Split(path, "/")
	if r.method != method || len(want) != len(got) {
		return false
	}
	for i := range want {
		if want[i] != got[i] && !strings.HasPrefix(want[i], ":") {
			return false
		}
	}
	return true
}

// TestPagesOfferWhatTheyDoNotRefuse (AP-2): no page has a link or a form that its reader's
// role may not use in this domain.
func TestPagesOfferWhatTheyDoNotRefuse(t *testing.T) {
	servertest.RunFull(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		mine := map[scope.Domain]map[string]string{scope.Test: owned(t, s, sc), scope.Live: owned(t, s, live(sc))}
		empty := s.CreateBusiness("Bayo's Shop", bayo)
		rows := rowsOf(t)
		for _, sc := range []scope.Scope{sc, empty} {
			b := s.SignIn(map[scope.Scope]string{sc: ama, empty: bayo}[sc])
			for _, role := range roles {
				for domain, things := range mine {
					askingAs(t, s, sc, b, role, domain)
					seen := 0
					for _, r := range rows {
						if r.method != http.MethodGet || endless(r.path) || r.own() && sc == empty {
							continue
						}
						page := b.Get(r.at(things))
						for _, to := range offered.FindAllStringSubmatch(switchedOff.ReplaceAllString(page.Body, ""), -1) {
							address, err := url.Parse(html.UnescapeString(to[2]))
							s.FailOn(err)
							method := map[bool]string{true: http.MethodPost, false: http.MethodGet}[to[1] != ""]
							for _, route := range rows {
								if !route.is(method, address.Path) {
									continue
								}
								if seen++; !route.allows(role, domain) {
									t.Errorf("%s in %s: %s offers %s %s", role, domain, r.path, method, address.Path)
								}
								break
							}
						}
					}
					if seen < 100 && role != scope.Till || seen == 0 {
						t.Errorf("%s in %s was offered %d addresses only", role, domain, seen)
					}
				}
			}
		}
	})
}

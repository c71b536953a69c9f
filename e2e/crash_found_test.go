package e2e

import (
	"fmt"
	"html"
	"maps"
	"math/rand/v2"
	"net/url"
	"regexp"
	"sync/atomic"
	"testing"
	"time"

	"cointill/e2e/harness"
)

// aim has kills hit requests that are under way.
type aim struct {
	begun      chan struct{} // a request begins, for a kill that waits for one
	kills, hit atomic.Int64
}

// under makes a request, and counts it when the program was killed meanwhile.
func (a *aim) under(request func()) {
	before := a.kills.Load()
	select {
	case a.begun <- struct{}{}:
	default:
	}
	request()
	if a.kills.Load() != before {
		a.hit.Add(1)
	}
}

// kill kills the program within some milliseconds after a request began: every
// third time at once, so that some surely hit one.
func (a *aim) kill(i *harness.Instance, round int) {
	select {
	case <-a.begun:
	case <-time.After(10 * time.Second): // nobody asks any more: it is killed all the same
	}
	if round%3 > 0 {
		<-time.After(time.Duration(rand.IntN(5000)) * time.Microsecond)
	}
	a.kills.Add(1)
	i.Kill()
}

// paidOnce finds one payment for each request, and no other: also one that nobody
// was told of, as each request has a business_reference of its own. wanted maps
// those to what was acknowledged.
func paidOnce(t *testing.T, i *harness.Instance, wanted map[string]string) {
	t.Helper()
	var list []harness.Record
	for cursor := ""; ; {
		var envelope struct {
			Data []harness.Record
			Meta struct {
				NextCursor *string `json:"next_cursor"`
			}
		}
		i.DecodeOutput(string(i.SendRequest("GET", "/v1/payments?limit=100&cursor="+url.QueryEscape(cursor), nil, 200).Body), &envelope)
		list = append(list, envelope.Data...)
		if envelope.Meta.NextCursor == nil {
			break
		}
		cursor = *envelope.Meta.NextCursor
	}
	missing := maps.Clone(wanted)
	for _, p := range list {
		if missing[p.BusinessReference] != p.Reference {
			t.Errorf("%s is a payment for %q, for which %q was acknowledged", p.Reference, p.BusinessReference, wanted[p.BusinessReference])
		}
		delete(missing, p.BusinessReference)
	}
	for own, reference := range missing {
		t.Errorf("%s, acknowledged for %s, is not in the list", reference, own)
	}
}

var (
	mailTo   = regexp.MustCompile(`<bdi>(crash-[0-9]+@example\.com)</bdi>`)
	nextPage = regexp.MustCompile(`href="(/dashboard/mailbox\?before=[^"]+)"`)
)

// receipts counts the mails by their recipients, as the owner's mailbox lists them.
func receipts(t *testing.T, i *harness.Instance) map[string]int {
	t.Helper()
	v := newPlainBrowser(t, i.Base)
	v.signIn()
	found := map[string]int{}
	for at := "/dashboard/mailbox"; at != ""; {
		_, page := v.ask("GET", at, nil)
		for _, to := range mailTo.FindAllStringSubmatch(page, -1) {
			found[to[1]]++
		}
		next := nextPage.FindStringSubmatch(page)
		if at = ""; next != nil {
			at = html.UnescapeString(next[1])
		}
	}
	return found
}

// customer is who pays the n-th payment.
func customer(n int) string { return fmt.Sprintf("crash-%d@example.com", n) }

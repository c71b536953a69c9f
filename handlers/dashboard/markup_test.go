package dashboard_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"cointill/internal/testing/servertest"
	"cointill/internal/testing/speed"
	"cointill/models"
	"cointill/models/modelstest"
)

// markup are the texts of e2e/vectors/markup.txt, which a browser gets, too.
func markup(t testing.TB) (texts []string) {
	t.Helper()
	file, err := os.ReadFile("../../e2e/vectors/markup.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(file)) {
		if !strings.HasPrefix(line, "# ") {
			texts = append(texts, strings.TrimSuffix(line, "\n"))
		}
	}
	if len(texts) < 200 {
		t.Fatalf("%d texts", len(texts))
	}
	return texts
}

// everyNth returns the first of each n texts.
func everyNth(texts []string, n int) (kept []string) {
	for part := range slices.Chunk(texts, n) {
		kept = append(kept, part[0])
	}
	return kept
}

// reader reads pages: it looks for anything in them that only
// a text of ours can have put there, and remembers which texts it could read.
type reader struct {
	testing.TB
	texts []string
	shown map[string]bool
}

// foreign are elements that no page of ours has.
var foreign = strings.Fields("iframe object embed base frame frameset applet math style video audio template marquee")

// leading are attributes that hold an address.
var leading = strings.Fields("href src action formaction data poster srcset xlink:href hx-get hx-post hx-put hx-patch hx-delete sse-connect")

// scheme is an address's, as browsers read it: they skip blanks before it and line ends within.
var scheme = regexp.MustCompile(`^[\x00-\x20]*([A-Za-z\t\r\n][A-Za-z0-9+.\t\r\n-]*):`)

// schemes are those that our links have.
var schemes = strings.Fields("http https mailto bitcoin dogecoin ethereum xrpl data")

// read reads an answer's page; another answer must not pass for one.
func (r *reader) read(what string, a servertest.Answer) (links []string) {
	r.Helper()
	if a.Status >= 500 {
		r.Errorf("%s answers %d", what, a.Status)
	}
	if kind := a.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/html") {
		if a.Body != "" && (kind == "" || a.Header.Get("X-Content-Type-Options") != "nosniff") {
			r.Errorf("%s is %q, which a browser may take for a page", what, kind)
		}
		return nil
	}
	page := xml.NewDecoder(strings.NewReader(a.Body)) // our pages are so well made that it reads them
	page.Strict, page.Entity = false, xml.HTMLEntity
	var words strings.Builder
	inside := ""
	for {
		token, err := page.RawToken()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			r.Errorf("%s: %v", what, err)
			break
		}
		for _, fault := range faults(token, inside) {
			r.Errorf("%s: %s: %v", what, fault, token)
		}
		switch token := token.(type) {
		case xml.StartElement:
			inside = token.Name.Local
			for _, at := range token.Attr {
				words.WriteString("\n" + at.Value + "\n")
				if inside == "a" && at.Name.Local == "href" {
					links = append(links, at.Value)
				}
			}
		case xml.EndElement:
			inside = ""
		case xml.CharData:
			words.Write(token)
		}
	}
	for _, text := range r.texts {
		if !r.shown[text] && strings.Contains(words.String(), text) {
			r.shown[text] = true
		}
	}
	return links
}

// faults are what of a page's part, within an element, can only come from a text.
func faults(part xml.Token, inside string) (found []string) {
	switch part := part.(type) {
	case xml.Comment:
		if strings.Contains(string(part), "x5s") {
			found = append(found, "a text stands where none belongs")
		}
	case xml.CharData:
		if (inside == "script" || inside == "style") && len(bytes.TrimSpace(part)) > 0 {
			found = append(found, "a text stands where none belongs")
		}
	case xml.StartElement:
		if name := strings.ToLower(part.Name.Local); strings.Contains(name, "x5s") || slices.Contains(foreign, name) {
			found = append(found, "a new element")
		}
		for _, at := range part.Attr {
			name := strings.ToLower(strings.TrimPrefix(at.Name.Space+":"+at.Name.Local, ":"))
			switch m := scheme.FindStringSubmatch(at.Value); {
			case strings.Contains(name, "x5s"):
				found = append(found, "a new attribute")
			case strings.HasPrefix(name, "on"), strings.HasPrefix(name, "hx-on"), name == "srcdoc", name == "style":
				found = append(found, "a handler")
			case name == "content" && strings.Contains(at.Value, "x5s"):
				found = append(found, "a text that leads elsewhere")
			case slices.Contains(leading, name) && m != nil && (!slices.Contains(schemes, strings.ToLower(m[1])) || m[1] == "data" && part.Name.Local != "img"):
				found = append(found, "the scheme "+m[1])
			}
		}
	}
	return found
}

// typed is a text as a field takes it: an address has to begin as one.
func typed(field, text string) string {
	if strings.Contains(field, "url") {
		return "https://shop.example/?" + strings.NewReplacer(" ", "/", "#", "").Replace(text)
	}
	return text
}

// lines are the texts, eight in each line's place, for what is sent back as it was sent.
func (r *reader) lines() (lines []string) {
	for part := range slices.Chunk(r.texts, 8) {
		lines = append(lines, strings.Join(part, "\n"))
	}
	return lines
}

// keeping are the fields of a form that keep such texts, by the form's path.
var keeping = map[string]string{
	accountAt: "name", "/dashboard/links": "title description redirect_url", "/dashboard/webhooks/:id": "type url",
	"/dashboard/settings/profile": "name support_url", "/dashboard/payments/:reference": "note", "/dashboard/account/passkeys/:passkey": "name",
}

// TestMarkup (AP-7) types each of some 50 texts (260 at its full size) into each field of
// each form that takes texts, and has the API, a merchant's server, a mail server and a node
// send them. Then it reads every page: none has an element, handler or address that we did
// not put there, and each text can be read.
func TestMarkup(t *testing.T) {
	t.Parallel()
	s := servertest.New(t, modelstest.Open(t, false, time.Now), customerPages...)
	s.UseMailServer()
	sc := s.CreateBusiness("Ama's Shop", ama)
	z := &fuzzed{Server: s, own: sc}
	z.signIn()
	z.things = owned(t, s, sc)
	r := &reader{TB: t, texts: everyNth(markup(t), speed.Pick(5, 1)), shown: map[string]bool{}}
	refunds := ""
	for _, f := range formsOfText(t, s, sc) {
		if strings.HasPrefix(f.path, "/dashboard/payments/") {
			refunds = strings.TrimSuffix(f.path, "/review")
		}
		fields := strings.Fields(f.fields)
		for i, lines := 0, r.lines(); i < len(lines); i++ {
			values := maps.Clone(f.base)
			if values == nil {
				values = url.Values{}
			}
			for j, field := range fields {
				values.Set(field, lines[(i+j)%len(lines)])
			}
			r.read(f.path, z.post(t, f.path, values))
		}
	}
	z.keep(t, r, refunds)
	z.call(t, r)
	z.told(t, r.texts)
	z.crawl(t, r)
	for _, text := range r.texts {
		if !r.shown[text] {
			t.Errorf("no page shows %s", text)
		}
	}
}

// keep fills the forms that keep such texts, one text after the other, and reads
// the page that each leads to.
func (z *fuzzed) keep(t *testing.T, r *reader, refunds string) {
	t.Helper()
	bases := map[string]url.Values{"/dashboard/links": {"amount_kind": {"fixed"}, "currency": {"NGN"}, "amount": {"100"}, "methods": {"crypto_ripple"}},
		"/dashboard/payments/:reference": {"amount": {"0.00000001"}}}
	for route, fields := range keeping {
		at := z.things[route]
		switch {
		case route == "/dashboard/payments/:reference":
			at = refunds
		case at == "":
			at = route
		}
		r.shown = map[string]bool{}
		for i := range r.texts {
			values := maps.Clone(bases[route])
			if values == nil {
				values = url.Values{}
			}
			for j, field := range strings.Fields(fields) {
				values.Set(field, typed(field, r.texts[(i+j)%len(r.texts)]))
			}
			a := z.post(t, at, values)
			r.read(at, a)
			if a.Status == http.StatusSeeOther && (!strings.HasPrefix(at, refunds) || i%44 == 43) { // which stand in one page
				r.read(at, z.ama.Get(a.Location))
			}
		}
		if len(r.shown) < len(r.texts)*3/4 {
			t.Errorf("%s: pages show %d of %d texts that the form was given, want three quarters", at, len(r.shown), len(r.texts))
		}
	}
}

// post sends a form of ours with a good token.
func (z *fuzzed) post(t *testing.T, path string, values url.Values) servertest.Answer {
	t.Helper()
	values.Set("csrf", z.token)
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(values.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return z.send(t, identity{}, r)
}

// call has the API store each text where it takes one, and refuse it elsewhere:
// what was refused stands in the log of requests.
func (z *fuzzed) call(t *testing.T, r *reader) {
	t.Helper()
	_, key, err := z.Keys.CreateKey(t.Context(), z.own, "Markup")
	z.FailOn(err)
	who := identity{browser: z.NewBrowser(), key: key}
	hook, tips := last(z.things["/v1/webhooks/:id"]), last(z.things["/v1/payment-links/:id"])
	send := func(method, path string, body any) {
		t.Helper()
		data, err := json.Marshal(body)
		z.FailOn(err)
		request := httptest.NewRequest(method, path, bytes.NewReader(data))
		request.Header.Set("Content-Type", "application/json")
		r.read(method+" "+path, z.send(t, who, request))
	}
	for _, text := range r.texts {
		who.browser.Header["User-Agent"] = text
		send("PATCH", "/v1/webhooks"+hook, map[string]any{"type": text, "url": typed("url", text)})
		send("PATCH", "/v1/payment-links"+tips, map[string]any{"title": text, "description": text, "redirect_url": typed("url", text)})
	}
	for _, text := range r.lines() {
		who.browser.Header["Idempotency-Key"] = text
		query := url.QueryEscape(text)
		send("POST", "/v1/payment/initiate", map[string]any{"currency": "NGN", "amount": 5, "first_name": "Ada", "last_name": "Obi", "email": "ada@example.com",
			"payment_method": "crypto_bitcoin", "metadata": map[string]any{text: text}})
		send("POST", "/v1/payment/initiate?q="+query, map[string]any{"currency": text, "amount": text, "first_name": text, "last_name": text, "email": text,
			"payment_method": text, "business_reference": text, "metadata": text})
		send("POST", "/v1/webhooks", map[string]any{"type": text, "url": text, "active": text, "event_types": []string{text}})
		send("POST", "/v1/payment-links", map[string]any{"title": text, "description": text, "currency": text, "redirect_url": text, "methods": []string{text}})
		send("POST", "/v1/sandbox/payments/"+url.PathEscape(text)+"/simulate", map[string]any{"scenario": text})
		send("GET", "/v1/payments?reference="+query+"&status="+query+"&email="+query, nil)
	}
	z.FailOn(z.Calls.FlushQueue(t.Context()))
}

// told stores the texts as what others say to us: a merchant's server, a mail server, a node.
func (z *fuzzed) told(t *testing.T, texts []string) {
	t.Helper()
	all := strings.Join(texts, "\n")
	now := z.Clock.Now()
	var d models.Delivery
	db := z.DB.Exec(t.Context())
	z.FailOn(db.Where("business_id = ?", z.own.BusinessID).Order("id").Take(&d).Error)
	for i, part := range slices.Collect(slices.Chunk(texts, 40)) {
		z.FailOn(db.Create(&models.DeliveryAttempt{DeliveryID: d.ID, Attempt: 100 + i, At: now, Status: 500, Request: part[0],
			Header: strings.Join(part, "\n"), Answer: strings.Join(part, "\n"), Error: part[0]}).Error)
	}
	z.things["/dashboard/webhooks/:id/deliveries/:event"] = "/dashboard/webhooks/" + d.EndpointID + "/deliveries/" + d.EventID
	z.FailOn(db.Model(&models.Delivery{}).Where("id = ?", d.ID).Updates(map[string]any{"last_error": all, "last_status": 500}).Error)
	z.FailOn(db.Model(&models.Mail{}).Where("business_id = ?", z.own.BusinessID).Updates(map[string]any{"last_error": all, "outcome": "failed", "done_at": now,
		"subject": texts[1], "text": all, "to_name": texts[2]}).Error)
	z.FailOn(db.Model(&models.Transfer{}).Where("business_id = ? AND unmatched <> ''", z.own.BusinessID).Updates(map[string]any{"tx_id": texts[1], "address": texts[2]}).Error)
}

// crawl follows the links of the pages to all others, a few of each kind.
func (z *fuzzed) crawl(t *testing.T, r *reader) {
	t.Helper()
	queue, seen, kinds := []string{"/dashboard", "/docs"}, map[string]bool{}, map[string]int{}
	for _, row := range everyRow(t) {
		if row.method == http.MethodGet && !endless(row.path) && !strings.HasPrefix(row.path, "/static") {
			queue = append(queue, row.at(z.things))
		}
	}
	own := regexp.MustCompile(`[0-9]+|[A-Za-z]{3}_\w+|=[^&]*|/l/\w+|/pay/\w+`)
	for len(queue) > 0 {
		at := strings.TrimPrefix(queue[0], servertest.Base)
		queue = queue[1:]
		at, _, _ = strings.Cut(at, "#")
		kind := own.ReplaceAllString(at, "*")
		if seen[at] || !strings.HasPrefix(at, "/") || strings.HasPrefix(at, "//") || strings.HasPrefix(at, "/static/") || endless(at) || kinds[kind] >= 14 {
			continue
		}
		seen[at] = true
		kinds[kind]++
		queue = append(queue, r.read(at, z.send(t, identity{}, httptest.NewRequest(http.MethodGet, at, nil)))...)
	}
	t.Logf("%d addresses of %d kinds", len(seen), len(kinds))
}

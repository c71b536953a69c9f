package webhook

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"cointill/core/fault"
	"cointill/models"
)

// Header is a header that a merchant adds to deliveries, such as the key of a gateway in front
// of the receiver. Values may be secrets: they are stored encrypted, and read back only as
// Mask.
type Header struct {
	Name  string
	Value string
}

// Mask stands for a header's value wherever it is shown. Given back in a
// change it keeps the value: no real value can look like it.
const Mask = "••••"

// Bounds of an endpoint's headers.
const (
	MaxHeaders     = 10
	maxHeaderName  = 64
	maxHeaderValue = 512
	maxHeaderBytes = 3 << 10 // names and values together
)

// Headers that are ours, the connection's or the body's to set, and those by
// which one request could pass for another.
var (
	taken = []string{"connection", "transfer-encoding", "te", "trailer", "upgrade", "keep-alive", "host", "cookie",
		"set-cookie",
		"user-agent", "accept-encoding", "expect", "date", "via", "forwarded", "range", "origin", "referer",
		"http2-settings",
		"x-real-ip", "x-http-method", "x-http-method-override", "x-method-override", "idempotency-key",
		"x-idempotency-key"}
	takenBeginnings = []string{"proxy-", "content-", "webhook-", "x-forwarded-", "sec-", "if-", "access-control-"}
)

// checkHeaders reports the errors of headers, each by its name.
func checkHeaders(headers []Header, fields fault.Fields) {
	if len(headers) > MaxHeaders {
		fields.Add("headers", "May be at most %d.", MaxHeaders)
		return
	}
	seen, size := map[string]bool{}, 0
	for _, h := range headers {
		name := strings.ToLower(h.Name)
		size += len(h.Name) + len(h.Value)
		if !isToken(h.Name) {
			fields.Add("headers", "%.64q is no name of a header: letters, digits and hyphens, at most %d.", h.Name,
				maxHeaderName)
			continue
		}
		at := "headers." + h.Name
		switch {
		case seen[name]:
			fields.Add(at, "Is given twice.")
		case isTaken(name):
			fields.Add(at, "Is set by Cointill or by the connection. Choose another name.")
		}
		fields.AddMessage(at, valueProblem(h.Value))
		seen[name] = true
	}
	if size > maxHeaderBytes {
		fields.Add("headers", "May have at most %d characters in all.", maxHeaderBytes)
	}
}

func valueProblem(value string) fault.Message {
	switch {
	case value == Mask:
		return fault.Message{}
	case value == "":
		return fault.NewMessage("May not be empty. Leave the header out instead.")
	case len(value) > maxHeaderValue:
		return fault.NewMessage("May have at most %d characters.", maxHeaderValue)
	case strings.TrimSpace(value) != value ||
		strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }):
		return fault.NewMessage("May hold visible ASCII characters only, with spaces between them.")
	}
	return fault.Message{}
}

// isToken reports whether a name is a field name of RFC 9110, section 5.1.
func isToken(name string) bool {
	const punctuation = "!#$%&'*+-.^_`|~"
	return name != "" && len(name) <= maxHeaderName && !strings.ContainsFunc(name, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') &&
			!strings.ContainsRune(punctuation, r)
	})
}

// isTaken reports a reserved name, also in spellings that servers treat as the same: some read
// Webhook_Id or Webhook.Id as webhook-id.
func isTaken(name string) bool {
	name = strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' {
			return r
		}
		return '-'
	}, name)
	return slices.Contains(taken, name) ||
		slices.ContainsFunc(takenBeginnings, func(p string) bool { return strings.HasPrefix(name, p) })
}

// keepsFrom refuses to send hidden values to another server: a person who changes the address
// could read them there.
func (c Change) keepsFrom(found models.Endpoint) error {
	kept := c.Headers == nil || slices.ContainsFunc(*c.Headers, func(h Header) bool { return h.Value == Mask })
	if len(found.Headers) == 0 || !kept || originOf(*c.URL) == originOf(found.URL) {
		return nil
	}
	return fault.RefuseField("headers", "The address is on another server now: give the value of each header again, "+
		"or leave the header out.")
}

// sealHeaders encrypts headers for their column. Masked values keep the stored ones. Invalid
// when there was no such header before.
func (s *Service) sealHeaders(id string, headers, before []Header) ([]byte, error) {
	if len(headers) == 0 {
		return nil, nil
	}
	plain := make([]Header, 0, len(headers))
	for _, h := range headers {
		if h.Value == Mask {
			i := slices.IndexFunc(before, func(b Header) bool { return strings.EqualFold(b.Name, h.Name) })
			if i < 0 {
				return nil, fault.RefuseField("headers."+h.Name, "Has no value yet that could be kept.")
			}
			h.Value = before[i].Value
		}
		plain = append(plain, Header{Name: http.CanonicalHeaderKey(h.Name), Value: h.Value})
	}
	text, err := json.Marshal(plain)
	if err != nil {
		return nil, err
	}
	return s.Secrets.Seal(headerPlace(id), text), nil
}

// OpenHeaders reads the column of headers.
func (s *Service) OpenHeaders(row models.Endpoint) (headers []Header, err error) {
	if len(row.Headers) == 0 {
		return nil, nil
	}
	plain, err := s.Secrets.Open(headerPlace(row.ID), row.Headers)
	if err != nil {
		return nil, err
	}
	return headers, json.Unmarshal(plain, &headers)
}

// maskHeaders returns an endpoint's headers as they are shown.
func (s *Service) maskHeaders(row models.Endpoint) (names []Header) {
	headers, err := s.OpenHeaders(row)
	if err != nil {
		return nil // deliveries say that they can't be read
	}
	for _, h := range headers {
		names = append(names, Header{Name: h.Name, Value: Mask})
	}
	return names
}

// headerPlace binds sealed headers to their endpoint.
func headerPlace(id string) string { return "endpoints/" + id + "/headers" }

package delivery

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"html"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/core/webhook/diagnose"
	"cointill/models"
)

const (
	maxAnswer = 4 << 10        // bytes of an answer that are kept
	maxWait   = 24 * time.Hour // longest Retry-After that is honoured
)

// result is the result of one request.
type result struct {
	status     int           // 0 when there was no answer
	answer     string        // its beginning
	request    string        // the headers that were sent, the merchant's own masked
	header     string        // the answer's headers
	problem    string        // a sentence; "" when it was a success
	code       diagnose.Code // of the problem; "" where an answer came
	retryAfter time.Duration // what the endpoint asked for; 0 when it didn't
	ours       bool          // the endpoint has no part in the problem
}

// failResult is the result of a request without an answer.
func failResult(code diagnose.Code) result { return result{problem: code.Describe(), code: code} }

// destination is what requests to an endpoint need of it.
type destination struct {
	models.Endpoint
	seen    // no later than it was read
	signers []signer
	own     []webhook.Header
	problem diagnose.Code // why it can't be sent to
}

// signer signs with one of an endpoint's secrets.
type signer struct {
	*standardwebhooks.Webhook
	until *time.Time // nil for the present one
}

// seen is a moment in which endpoints are read.
type seen struct {
	at    time.Time
	edits int64
}

// lastLook returns the time and the number of edits, for endpoints that are read after it.
func (s *Sender) lastLook() seen { return seen{s.Clock(), s.Endpoints.Edits()} }

// newDestination decrypts an endpoint's secrets and headers.
func (s *Sender) newDestination(to models.Endpoint, when seen) *destination {
	made := &destination{Endpoint: to, seen: when}
	keys, err := s.Endpoints.OpenSecrets(to)
	for _, key := range keys {
		by, wrong := standardwebhooks.NewWebhook(key.Secret)
		if wrong != nil {
			err = wrong
			continue
		}
		made.signers = append(made.signers, signer{by, key.Until})
	}
	if err != nil {
		made.problem = diagnose.SecretUnreadable
	}
	own, err := s.Endpoints.OpenHeaders(to)
	if err != nil {
		made.problem = diagnose.HeadersUnreadable
	}
	made.own = own
	if to.Domain == string(scope.Live) && !strings.HasPrefix(strings.ToLower(to.URL), "https:") {
		made.problem = diagnose.NotHTTPS
	}
	return made
}

// sendRequest makes one request: the event's bytes, signed at this moment.
func (s *Sender) sendRequest(ctx context.Context, to *destination, event models.Event) result {
	now := s.Clock()
	signature, err := to.signEvent(event, now)
	client := s.Clients[scope.Domain(to.Domain)]
	ours := to.problem
	switch {
	case ours != "":
	case err != nil:
		ours = diagnose.SecretUnusable
	case client == nil:
		ours = diagnose.DeliveriesOff
	}
	if ours != "" {
		failed := failResult(ours)
		failed.ours = true
		return failed
	}
	ctx, findCode := diagnose.TraceRequest(ctx)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL, strings.NewReader(event.Body))
	if err != nil {
		return failResult(diagnose.URLUnusable)
	}
	for _, h := range to.own {
		request.Header.Set(h.Name, h.Value)
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("User-Agent", "Cointill/"+s.Version)
	request.Header.Set(standardwebhooks.HeaderWebhookID, event.ID)
	request.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	request.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	sent := shownRequest(request, to.own)
	// A delivery may come twice, so one whose kept connection was closed just
	// now may be sent on a new one. Empty, this tells the client and isn't sent.
	request.Header["Idempotency-Key"] = []string{}

	response, err := client.Do(request)
	if err != nil {
		failed := failResult(findCode(err))
		failed.request = sent
		return failed
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusSwitchingProtocols { // its body is the bare connection, which no deadline ends
		return result{status: response.StatusCode, request: sent, header: to.maskSecrets(shownHeader(response.Header)),
			problem: diagnose.DescribeStatus(response.StatusCode).String()}
	}
	// The status was read: a slow body isn't waited for.
	dawdling := time.AfterFunc(patienceForAnswer, stop)
	defer dawdling.Stop()
	answer, _ := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	return result{
		status: response.StatusCode, request: sent, header: to.maskSecrets(shownHeader(response.Header)),
		answer:     to.maskSecrets(makePrintable(answer)),
		problem:    diagnose.DescribeStatus(response.StatusCode).String(),
		retryAfter: retryAfter(response.Header.Get("Retry-After"), now),
	}
}

// secretLength is the least length at which a header's value, or a word in it, is masked in an
// answer: a shorter one may be any word.
const secretLength = 8

// percent is a byte as addresses write it, in large digits or in small ones.
var percent = regexp.MustCompile(`%[0-9A-F]{2}`)

// secretForms returns the values of the merchant's own headers, and the words in them, in
// the forms in which an answer may repeat them.
func (to *destination) secretForms() (forms []string) {
	for _, h := range to.own {
		for _, plain := range append(strings.Fields(h.Value), h.Value) {
			if len(plain) < secretLength {
				continue
			}
			quoted, _ := json.Marshal(plain) // which escapes < and >, and others don't
			bare := strconv.Quote(plain)
			forms = append(forms, plain, html.EscapeString(plain), base64.StdEncoding.EncodeToString([]byte(plain)))
			for _, text := range []string{string(quoted[1 : len(quoted)-1]), bare[1 : len(bare)-1]} {
				forms = append(forms, text, strings.ReplaceAll(text, "/", `\/`)) // as PHP writes it
			}
			for _, text := range []string{url.QueryEscape(plain), url.PathEscape(plain)} {
				forms = append(forms, text, percent.ReplaceAllStringFunc(text, strings.ToLower))
			}
		}
	}
	slices.SortFunc(forms, func(a, b string) int { return len(b) - len(a) }) // the whole before its words
	return slices.Compact(forms)
}

// maskSecrets masks what an answer repeats of the merchant's own headers, also what the
// answer's end cuts off.
func (to *destination) maskSecrets(answer string) string {
	forms := to.secretForms()
	for _, form := range forms {
		answer = strings.ReplaceAll(answer, form, webhook.Mask)
	}
	for _, form := range forms {
		for n := len(form) - 1; n >= secretLength; n-- {
			if rest, cut := strings.CutSuffix(answer, form[:n]); cut {
				return rest + webhook.Mask
			}
		}
	}
	return answer
}

// patienceForAnswer is how long the rest of an answer may take after its header.
const patienceForAnswer = 2 * time.Second

// shownRequest is a request's headers as its attempt keeps them.
func shownRequest(request *http.Request, own []webhook.Header) string {
	masked := request.Header.Clone()
	for _, h := range own {
		masked.Set(h.Name, webhook.Mask)
	}
	return formatHeaders(masked, maxAnswer)
}

// shownHeader returns an answer's headers as its attempt stores them, without cookies.
func shownHeader(header http.Header) string {
	shown := header.Clone()
	shown.Del("Set-Cookie")
	return makePrintable([]byte(formatHeaders(shown, maxShownHeader)))
}

const maxShownHeader = 2 << 10

// formatHeaders writes headers one to a line, by name, as far as there is room; "…" stands for the rest.
func formatHeaders(header http.Header, room int) string {
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			if out.Len()+len(name)+len(value)+3 > room {
				return out.String() + "…"
			}
			out.WriteString(name + ": " + value + "\n")
		}
	}
	return out.String()
}

// signEvent makes the webhook-signature header: one signature for each secret that is valid.
func (to *destination) signEvent(event models.Event, now time.Time) (string, error) {
	var signatures []string
	for _, by := range to.signers {
		if by.until != nil && !now.Before(*by.until) {
			continue
		}
		signature, err := by.Sign(event.ID, now, []byte(event.Body))
		if err != nil {
			return "", err
		}
		signatures = append(signatures, signature)
	}
	return strings.Join(signatures, " "), nil
}

// retryAfter reads the header, seconds or a date, bounded; 0 when there is none.
func retryAfter(text string, now time.Time) time.Duration {
	wait := time.Duration(0)
	if seconds, err := strconv.ParseInt(text, 10, 64); err == nil || errors.Is(err, strconv.ErrRange) {
		wait = time.Duration(min(max(seconds, 0), int64(maxWait/time.Second))) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		wait = at.Sub(now)
	}
	return min(max(wait, 0), maxWait)
}

// makePrintable makes an answer fit for a text column, a page and a terminal: what
// would steer these, or turn the direction of writing, is shown as replaced.
func makePrintable(answer []byte) string {
	return strings.Map(func(r rune) rune {
		steers := unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t'
		if steers || unicode.Is(unicode.Bidi_Control, r) {
			return unicode.ReplacementChar
		}
		return r
	}, strings.ToValidUTF8(string(answer), "\uFFFD"))
}

package diagnose

import (
	"bytes"
	"crypto/hmac"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"cointill/core/webhook"
)

// explainer looks at a delivery whose headers can be read.
type explainer struct {
	pasted     Pasted
	known      Known
	signatures [][]byte
	now, at    time.Time
}

// madeSignature reports whether one of the signatures is the key's over the content.
func (e explainer) madeSignature(key []byte, content string) bool {
	if key == nil {
		return false
	}
	want, equal := signWith(key, content), false
	for _, signature := range e.signatures {
		equal = hmac.Equal(want, signature) || equal
	}
	return equal
}

// signedText returns the signed text.
func signedText(id, timestamp, body string) string { return id + "." + timestamp + "." + body }

// findSigner returns the key that signed the content, the chosen endpoint's first.
func (e explainer) findSigner(content string) (k webhook.Key, chosen, found bool) {
	for i, k := range append(append([]webhook.Key{}, e.known.Chosen...), e.known.Others...) {
		if e.madeSignature(secretBytes(k), content) {
			return k, i < len(e.known.Chosen), true
		}
	}
	return webhook.Key{}, false, false
}

// asPasted looks whether it verifies as it is, and by whose secret.
func (e explainer) asPasted() (Verdict, bool) {
	k, chosen, found := e.findSigner(signedText(e.pasted.ID, e.pasted.Timestamp, e.pasted.Body))
	switch {
	case !found:
		return Verdict{}, false
	case !chosen:
		return Verdict{Reason: OtherEndpoint,
			Why: fmt.Sprintf("It is signed rightly, but with the secret of another endpoint: %.100q.", k.Endpoint),
			Do: "Your code checks with the wrong secret for this address. Each endpoint has a secret of its own: " +
				"use that endpoint's, or look at its URL."}, true
	case !signsAt(k, e.now):
		return Verdict{Reason: FormerSecret,
			Why: "It is signed with the endpoint's former secret, which was replaced and ended on " +
				formatTime(*k.Until) + ".",
			Do: "Deliveries of today carry the present secret's signature. If your code still uses the former one, " +
				"give it the new one; a resend of an old delivery is signed with it."}, true
	}
	return e.judgeTimestamp(k), true
}

// judgeTimestamp judges the timestamp of a correctly signed request.
func (e explainer) judgeTimestamp(k webhook.Key) Verdict {
	off := e.now.Sub(e.at)
	switch {
	case off > Tolerance:
		return Verdict{Reason: TooOld, Why: "The signature is right, and the timestamp is " + formatSpan(off) +
			" old. Libraries refuse what is older than 5 minutes.",
			Do: "If you copied it a while ago, that is all: it verified when it came. If your server refused it at " +
				"once, set its clock (NTP), and check before the delivery waits in a queue."}
	case off < -Tolerance:
		return Verdict{Reason: TooNew, Why: "The signature is right, but the timestamp is " + formatSpan(-off) +
			" ahead of our clock.",
			Do: "Cointill signs with the time of sending, so the header was changed, or your server's clock is " +
				"compared with another: set it (NTP)."}
	}
	v := Verdict{Reason: Verifies, Why: "The signature is right: secret, timestamp and body fit together.",
		Do: "If your code refuses it, compare the secret it uses with this endpoint's, and sign id, timestamp and " +
			"raw body with dots between, with the bytes that the text after whsec_ stands for in base64."}
	if k.Until != nil {
		v.Why += " It was made with the former secret, which signs along until " + formatTime(*k.Until) + "."
	}
	return v
}

// checkSpaces checks whether the id verifies without those around it.
func (e explainer) checkSpaces() (Verdict, bool) {
	plain := strings.TrimSpace(e.pasted.ID)
	if plain == e.pasted.ID {
		return Verdict{}, false
	}
	_, _, found := e.findSigner(signedText(plain, e.pasted.Timestamp, e.pasted.Body))
	return Verdict{Reason: IDSpaces, Why: "It verifies when the spaces around the webhook-id are left out.",
		Do: "Trim the header before you sign. If the spaces came only with copying, all is well."}, found
}

// checkTimes checks whether the timestamp is another attempt's.
func (e explainer) checkTimes() (Verdict, bool) {
	for _, timestamp := range e.known.Times {
		for _, body := range []string{e.pasted.Body, e.known.Body} {
			if _, _, found := e.findSigner(signedText(strings.TrimSpace(e.pasted.ID), timestamp, body)); found &&
				timestamp != e.pasted.Timestamp {
				return Verdict{Reason: TimestampChanged, Why: "The signature belongs to the timestamp " + timestamp +
					", another attempt's, not to " + e.pasted.Timestamp + ".",
					Do: "Every attempt is signed with the time of its sending. Take all three headers from the " +
						"same request."}, true
			}
		}
	}
	return Verdict{}, false
}

// asSent looks whether the body that was sent verifies; then the pasted one is another.
func (e explainer) asSent() (Verdict, bool) {
	sent := e.known.Body
	if sent == "" || sent == e.pasted.Body {
		return Verdict{}, false
	}
	_, chosen, found := e.findSigner(signedText(strings.TrimSpace(e.pasted.ID), e.pasted.Timestamp, sent))
	if !found {
		return Verdict{}, false
	}
	v := e.findEdit(func(body string) bool { return body == sent })
	switch {
	case v.Reason != "":
	case canonicalJSON(sent) != "" && canonicalJSON(sent) == canonicalJSON(e.pasted.Body):
		v = Verdict{Reason: BodyRewritten,
			Why: "The body holds the same data, but was parsed and serialized again: its keys are in another order, or " +
				"its characters or numbers are written otherwise."}
	default:
		v = Verdict{Reason: BodyChanged, Why: "The body is not what was sent: its data differ."}
	}
	if v.Do == "" {
		v.Do = rawBody
	}
	if !chosen {
		v.Why += " It is signed with the secret of another of your endpoints, too."
	}
	v.Diff = findDifference(sent, e.pasted.Body)
	return v, true
}

// checkEdits checks whether some change to the pasted body makes it verify, for
// events whose body is no longer kept.
func (e explainer) checkEdits() (Verdict, bool) {
	v := e.findEdit(func(body string) bool {
		_, _, found := e.findSigner(signedText(strings.TrimSpace(e.pasted.ID), e.pasted.Timestamp, body))
		return found
	})
	return v, v.Reason != ""
}

const rawBody = "Check the signature over the raw bytes of the request, before any framework reads them as JSON " +
	"(express.raw, request.get_data(), php://input)."

// edits are what commonly happens to a body on its way to the check.
var edits = []struct {
	why, do string
	undo    func(body string) []string
}{
	{"It verifies without the byte order mark at its beginning.",
		"Read the body as bytes: an editor or a decoder put the mark there.",
		func(b string) []string { return []string{strings.TrimPrefix(b, "\ufeff")} }},
	{"It verifies without the line break or space around it.",
		"If it came with copying, all is well. If your code adds it, check the raw bytes of the request instead.",
		func(b string) []string { return []string{strings.TrimRight(b, "\r\n"), strings.TrimSpace(b)} }},
	{"It verifies with a line break at its end.", rawBody,
		func(b string) []string { return []string{b + "\n", b + "\r\n"} }},
	{"It verifies with plain line feeds in place of carriage return and line feed.",
		"Something turned line ends into those of Windows. " + rawBody,
		func(b string) []string { return []string{strings.ReplaceAll(b, "\r\n", "\n")} }},
	{"It verifies as compact JSON: spaces or line breaks were added.",
		"Your code, or whatever shows you the body, read it as JSON and wrote it prettily. " + rawBody,
		func(b string) []string { return []string{compactJSON(b)} }},
	{"It verifies as indented JSON: its spaces and line breaks were removed.", rawBody,
		func(b string) []string { return []string{addIndent(b, "  "), addIndent(b, "    "), addIndent(b, "\t")} }},
}

// findEdit returns the first edit after which the body is right.
func (e explainer) findEdit(right func(body string) bool) Verdict {
	for _, edit := range edits {
		for _, body := range edit.undo(e.pasted.Body) {
			if body != "" && body != e.pasted.Body && right(body) {
				return Verdict{Reason: BodyRewritten, Why: edit.why, Do: edit.do}
			}
		}
	}
	return Verdict{}
}

// ownCode looks for what code that makes the signature itself gets wrong.
func (e explainer) ownCode() (Verdict, bool) {
	id := strings.TrimSpace(e.pasted.ID)
	for _, body := range []string{e.pasted.Body, e.known.Body} {
		for _, k := range e.known.Chosen {
			for _, key := range []string{k.Secret, strings.TrimPrefix(k.Secret, secretPrefix)} {
				if e.madeSignature([]byte(key), signedText(id, e.pasted.Timestamp, body)) {
					return Verdict{Reason: KeyNotDecoded,
						Why: "This signature was made with the text of the secret as its key.",
						Do:  "Leave out whsec_ and decode the rest from base64: these bytes are the key."}, true
				}
			}
			for _, over := range []string{body, e.pasted.Timestamp + "." + body, id + "." + body,
				id + e.pasted.Timestamp + body} {
				if over != "" && e.madeSignature(secretBytes(k), over) {
					return Verdict{Reason: WrongContent,
						Why: "This signature was made with the right secret, but over something else.",
						Do:  "Sign the id, a dot, the timestamp, a dot and the raw body."}, true
				}
			}
		}
	}
	return Verdict{}, false
}

// describeUnknown returns the verdict when nothing else was found.
func (e explainer) describeUnknown() Verdict {
	if !e.known.Found {
		return Verdict{Reason: UnknownEvent,
			Why: "There is no event with this webhook-id here, and none of your secrets makes this signature.",
			Do: "Look whether it is of the other domain (test or live) or of another business. If you can't say " +
				"where it came from, refuse it: anybody can post to your address."}
	}
	v := Verdict{Reason: UnknownSignature,
		Why: "The event is known, but none of your secrets makes this signature, not even over the body as it was sent.",
		Do: "Take all three headers from the same request and copy them whole. A secret that was replaced more " +
			"than once is no longer known: send the event again and check that delivery."}
	if e.known.Body != "" && e.known.Body != e.pasted.Body {
		v.Diff = findDifference(e.known.Body, e.pasted.Body)
	}
	return v
}

// otherEncoding names how 32 bytes are written when not in standard base64.
func otherEncoding(text string) string {
	for _, kind := range []struct {
		name   string
		decode func(string) ([]byte, error)
	}{{"hexadecimal", hex.DecodeString}, {"base64 without the = at its end", base64.RawStdEncoding.DecodeString},
		{"URL-safe base64 (with - and _)", base64.URLEncoding.DecodeString},
		{"URL-safe base64 (with - and _), without the = at its end", base64.RawURLEncoding.DecodeString}} {
		if plain, err := kind.decode(text); err == nil && len(plain) == signatureBytes {
			return kind.name
		}
	}
	return ""
}

func compactJSON(body string) string {
	var out bytes.Buffer
	if json.Compact(&out, []byte(strings.TrimPrefix(body, "\ufeff"))) != nil {
		return ""
	}
	return out.String()
}

func addIndent(body, by string) string {
	var out bytes.Buffer
	if json.Indent(&out, []byte(body), "", by) != nil {
		return ""
	}
	return out.String()
}

// canonicalJSON returns JSON in a form that is the same for equal data; "" for invalid JSON.
func canonicalJSON(body string) string {
	value := jsontext.Value(strings.TrimPrefix(body, "\ufeff"))
	if value.Canonicalize() != nil {
		return ""
	}
	return string(value)
}

// findDifference finds the first byte that differs.
func findDifference(sent, pasted string) *Difference {
	at := 0
	for at < len(sent) && at < len(pasted) && sent[at] == pasted[at] {
		at++
	}
	return &Difference{At: at, Line: 1 + strings.Count(pasted[:at], "\n"), Sent: quoteAround(sent, at),
		Pasted:   quoteAround(pasted, at),
		SentSize: len(sent), PastedSize: len(pasted)}
}

// quoteAround returns a part of a text with invisible characters made visible.
func quoteAround(text string, at int) string {
	const before, after = 16, 32
	from, to := max(at-before, 0), min(at+after, len(text))
	for from > 0 && !utf8.RuneStart(text[from]) {
		from--
	}
	for to < len(text) && !utf8.RuneStart(text[to]) {
		to++
	}
	quoted := strconv.Quote(text[from:to])
	piece := strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
	if from > 0 {
		piece = "…" + piece
	}
	if at >= len(text) {
		return piece + " (ends here)"
	}
	if to < len(text) {
		piece += "…"
	}
	return piece
}

func formatTime(t time.Time) string { return t.UTC().Format("2 January 2006, 15:04 MST") }

// formatSpan writes a span of time in its two largest units.
func formatSpan(d time.Duration) string {
	units := []struct {
		name string
		size time.Duration
	}{{"day", 24 * time.Hour}, {"hour", time.Hour}, {"minute", time.Minute}, {"second", time.Second}}
	var parts []string
	for _, u := range units {
		n := int(d / u.size)
		if d -= time.Duration(n) * u.size; n == 0 {
			if len(parts) > 0 {
				break
			}
			continue
		}
		name := u.name
		if n != 1 {
			name += "s"
		}
		if parts = append(parts, strconv.Itoa(n)+" "+name); len(parts) == 2 {
			break
		}
	}
	return strings.Join(parts, " and ")
}

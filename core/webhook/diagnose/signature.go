// Package diagnose says what a failed attempt and a refused signature mean, by codes and in
// sentences.
package diagnose

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"cointill/core/webhook"
)

// Pasted is a delivery as a merchant's server saw it: three headers and the body.
type Pasted struct {
	ID        string // webhook-id
	Timestamp string // webhook-timestamp
	Signature string // webhook-signature
	Body      string
}

// MaxPasted bounds the body that is looked at, in bytes. Events are far smaller.
const MaxPasted = 24 << 10

// Tolerance is how far the public libraries let a timestamp be from their clock.
const Tolerance = 5 * time.Minute

// The reasons of a Verdict.
const (
	Verifies         = "verifies"
	MissingHeader    = "missing_header"      // one of the three is empty
	SecretPasted     = "secret_pasted"       // a secret stands where the signature belongs
	MalformedHeader  = "malformed_signature" // not v1,<base64>
	UnknownVersion   = "unknown_version"     // no signature of version v1
	WrongEncoding    = "wrong_encoding"      // hexadecimal, URL-safe or unpadded base64
	MalformedTime    = "malformed_timestamp" // no Unix time in seconds
	TooOld           = "too_old"             // signed rightly, more than Tolerance ago
	TooNew           = "too_new"             // … or ahead
	FormerSecret     = "former_secret"       // by a secret that is no longer valid
	OtherEndpoint    = "other_endpoint"      // by the secret of another endpoint
	IDSpaces         = "id_spaces"           // the id has spaces around it
	TimestampChanged = "timestamp_changed"   // the timestamp is of another attempt
	BodyChanged      = "body_changed"        // the body's data differ
	BodyRewritten    = "body_rewritten"      // the same data, other bytes
	KeyNotDecoded    = "key_not_decoded"     // made with the secret's text as the key
	WrongContent     = "wrong_content"       // made over something else than id.timestamp.body
	UnknownEvent     = "unknown_event"       // no event has this id
	UnknownSignature = "unknown_signature"   // no secret makes it
)

// What a signature header holds.
const (
	firstVersion      = "v1"        // HMAC-SHA256
	signatureBytes    = sha256.Size // of a signature of that version
	mostSignatures    = 10          // that are looked at
	mostHeaderEntered = 2048        // bytes of a header that are looked at
)

// Verdict says whether a signature verifies, and if not, why not.
type Verdict struct {
	Reason string // one of the reasons above
	Why    string // the findings, in sentences
	Do     string // … and what to do about it
	// Diff is the first difference between the pasted body and the sent one; nil when unknown.
	Diff *Difference
	// DiffWithheld: it is known, and the reader may not see payments.
	DiffWithheld bool
}

// Difference is the first place where a pasted body is another than the one that was sent.
type Difference struct {
	At         int // bytes from the beginning
	Line       int // of the pasted body, counted from 1
	Sent       string
	Pasted     string // the pasted text there, with control characters made visible
	SentSize   int    // bytes
	PastedSize int
}

// signsAt reports whether a secret signs at a time.
func signsAt(k webhook.Key, now time.Time) bool { return k.Until == nil || now.Before(*k.Until) }

// secretBytes returns the key of the signature; nil when the secret is unreadable.
func secretBytes(k webhook.Key) []byte {
	plain, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(k.Secret, secretPrefix))
	if err != nil {
		return nil
	}
	return plain
}

const secretPrefix = "whsec_"

// Known is what Cointill knows of a pasted delivery.
type Known struct {
	Chosen []webhook.Key // of the endpoint that it came to, the present secret first
	Others []webhook.Key // of the business's other endpoints
	Found  bool          // there is an event with this id
	Body   string        // as it was sent; "" when it is no longer kept
	Times  []string      // the timestamps of the requests that were made with it
}

// Explain says why a signature doesn't verify. It compares signatures in
// constant time, as the keys are secrets.
func Explain(p Pasted, k Known, now time.Time) Verdict {
	p.ID, p.Timestamp, p.Signature = trimHeaderName("webhook-id", p.ID),
		strings.TrimSpace(trimHeaderName("webhook-timestamp", p.Timestamp)),
		strings.TrimSpace(trimHeaderName("webhook-signature", p.Signature))
	if v := headersMissing(p); v.Reason != "" {
		return v
	}
	signatures, v := readSignatures(p.Signature)
	if v.Reason != "" {
		return v
	}
	at, v := readTimestamp(p.Timestamp)
	if v.Reason != "" {
		return v
	}
	e := explainer{pasted: p, known: k, signatures: signatures, now: now, at: at}
	for _, look := range []func() (Verdict, bool){e.asPasted, e.checkSpaces, e.checkTimes, e.asSent, e.checkEdits, e.ownCode} {
		if v, found := look(); found {
			return v
		}
	}
	return e.describeUnknown()
}

// trimHeaderName leaves out a header's name that was copied along with its value.
func trimHeaderName(name, value string) string {
	if label, rest, ok := strings.Cut(value, ":"); ok && strings.EqualFold(strings.TrimSpace(label), name) {
		return strings.TrimSpace(rest)
	}
	return value
}

func headersMissing(p Pasted) Verdict {
	var names []string
	for _, h := range []struct{ name, value string }{{"webhook-id", p.ID}, {"webhook-timestamp", p.Timestamp},
		{"webhook-signature", p.Signature}} {
		if strings.TrimSpace(h.value) == "" {
			names = append(names, h.name)
		}
	}
	if len(names) == 0 {
		return Verdict{}
	}
	verb := " is missing."
	if len(names) > 1 {
		verb = " are missing."
	}
	return Verdict{Reason: MissingHeader, Why: strings.Join(names, " and ") + verb,
		Do: "Every delivery carries all three headers. Look whether a proxy or framework in front of your code " +
			"drops them, or names them otherwise (HTTP_WEBHOOK_ID)."}
}

// readSignatures reads the entries of the header that are of our version.
func readSignatures(header string) (list [][]byte, v Verdict) {
	if strings.Contains(header, secretPrefix) {
		return nil, Verdict{Reason: SecretPasted, Why: "This is a signing secret, not a signature.",
			Do: "Paste the value of the header webhook-signature, which begins with v1. Your secret was not stored; " +
				"if others can see this screen, make a new one."}
	}
	if len(header) > mostHeaderEntered {
		return nil, describeMalformed("It is longer than any signature header of Cointill.")
	}
	entries := strings.Fields(header)
	var versions []string
	for _, entry := range entries[:min(len(entries), mostSignatures)] {
		version, text, cut := strings.Cut(entry, ",")
		switch {
		case !cut:
			return nil, describeMalformed(fmt.Sprintf("%.24q has no version before it.", entry))
		case version != firstVersion:
			versions = append(versions, fmt.Sprintf("%.16q", version))
			continue
		}
		signature, err := base64.StdEncoding.DecodeString(text)
		if other := otherEncoding(text); err != nil && other != "" || err == nil && len(signature) != signatureBytes &&
			other != "" {
			return nil, Verdict{Reason: WrongEncoding, Why: "The signature is written in " + other + ".",
				Do: "It is standard base64 with + and / and with = at its end. If your code made this text, encode " +
					"it so; if it came in the header, something on the way changed it."}
		}
		if err != nil {
			return nil, describeMalformed(
				"What follows v1, is not base64: a character may have been lost or changed in copying.")
		}
		if len(signature) != signatureBytes {
			return nil, describeMalformed(fmt.Sprintf("A signature has 32 bytes, this one has %d. It may have been cut off.",
				len(signature)))
		}
		list = append(list, signature)
	}
	if len(list) == 0 {
		return nil, Verdict{Reason: UnknownVersion, Why: "There is no signature of version v1, only of " +
			strings.Join(versions, " and ") + ".",
			Do: "Cointill signs with v1, HMAC-SHA256. Other versions come from another sender, or the header was " +
				"changed."}
	}
	return list, Verdict{}
}

func describeMalformed(why string) Verdict {
	return Verdict{Reason: MalformedHeader, Why: "The signature can't be read. " + why,
		Do: "The header is v1, a comma and base64 text; with two secrets in use there are two of these with a space " +
			"between. Copy all of it."}
}

// readTimestamp reads a Unix time in seconds.
func readTimestamp(text string) (time.Time, Verdict) {
	seconds, err := strconv.ParseInt(text, 10, 64)
	v := Verdict{Reason: MalformedTime, Why: "The timestamp is not a number of seconds since 1970.",
		Do: "Pass the header webhook-timestamp on as it came, and sign that very text."}
	switch {
	case err != nil:
		return time.Time{}, v
	case len(text) > 11 || seconds < 0:
		v.Why = "The timestamp is not in seconds since 1970: it has " + strconv.Itoa(len(text)) +
			" digits. It may have been turned into milliseconds."
		return time.Time{}, v
	}
	return time.Unix(seconds, 0), Verdict{}
}

// signWith is the signature of version v1.
func signWith(key []byte, content string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(content))
	return mac.Sum(nil)
}

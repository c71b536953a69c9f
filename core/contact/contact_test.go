package contact_test

import (
	"net/mail"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"cointill/core/contact"
)

// TestEmail (AP-11): an address is what it says, in one plain form, or refused.
func TestEmail(t *testing.T) {
	long := strings.Repeat("d", 60)
	longest := strings.Repeat("a", 64) + "@" + long + "." + long + "." + long + ".co." // + more below
	longest += strings.Repeat("m", 254-len(longest))
	cases := map[string]bool{
		"ada@example.com": true, "a@b.co": true, "o'brien+tag@mail.example.ng": true, "x_y.z@1and1.de": true,
		"A.B@EXAMPLE.COM": true, "a@xn--bcher-kva.example": true, longest: true, longest + "m": false,
		"": false, "ada": false, "@example.com": false, "ada@": false, "a@b": false, "a@b.": false, "a@.b": false,
		".a@b.co": false, "a.@b.co": false, "a..b@c.co": false, "a@b..co": false, "a@b@c.co": false,
		`"a b"@c.co`: false, `"ab"@c.co`: false, "Ada <ada@example.com>": false, "<ada@example.com>": false,
		"ada@[127.0.0.1]": false, "ada@127.0.0.1": false, "ada@(c)example.com": false, "ada@example.com (c)": false,
		" ada@example.com": false, "ada@example.com ": false, "ada@exam ple.com": false, "ada@example.com\r\nBcc: x@y.z": false,
		"ada@-a.com": false, "ada@a-.com": false, "ada@a_b.com": false, "ädä@example.com": false, "ada@exämple.com": false,
		"ada@example.com\x00": false, "a,b@example.com": false, strings.Repeat("a", 65) + "@b.co": false,
		"a@" + strings.Repeat("b", 64) + ".co": false, "ada@example.com.": false,
		"cus_ab1@erased.invalid": false, "CUS_AB1@Erased.Invalid": false, "ada@erased.invalid.example": true,
	}
	for text, fine := range cases {
		if got := contact.CheckEmail(text); got.IsZero() != fine {
			t.Errorf("Email(%q) = %q, fine should be %v", text, got, fine)
		}
	}
}

// TestName (AP-8): a name shows what it holds: no line end, no control, nothing that
// turns the direction.
func TestName(t *testing.T) {
	cases := map[string]bool{
		"Ada": true, "Ọlá": true, "Zoë": true, "O\u0301la": true, "José2": true, "李": true, "Наталья": true,
		"आदित्य": true, "عائشة": true, "a": true, "7": true, "٧": true, strings.Repeat("é", 100): true,
		"": false, " ": false, "Ada Obi": false, "O'Brien": false, "Anne-Marie": false, "A.": false, "<b>": false,
		"\u0301a": false, "7\u0301": false, "a\u200d": false, "a\u202eb": false, "a\x00": false, "😀": false, "½": false,
		"\u3164": false, "\xff": false, strings.Repeat("a", 101): false, "a_b": false,
	}
	for text, fine := range cases {
		if got := contact.CheckName(text); got.IsZero() != fine {
			t.Errorf("Name(%q) = %q, fine should be %v", text, got, fine)
		}
	}
}

func TestLabel(t *testing.T) {
	cases := map[string]bool{
		"Ada's Shop & Sons (Lagos) – №1": true, "Café": true, "😀": true, "": false, "  ": false, " a": false, "a ": false,
		"a\nb": false, "a\u202eb": false, "a\u200fb": false, "a\u00a0b": false, "a\x00": false, strings.Repeat("x", 101): false, "\xff": false,
		"\u200b\u200b": false, "a\u200bb": false, "a\u0085b": false, "a\u009fb": false, "\u3164": false, "a\u3164": false, "\uffa0": false,
		"\u2800": false, "\u2800 \u2800": false, "\u2801\u2800\u2803": true, "\ufe0f": false, "❤\ufe0f": true, "O\u0301": true,
	}
	for text, fine := range cases {
		if got := contact.CheckLabel(text); got.IsZero() != fine {
			t.Errorf("Label(%q) = %q, fine should be %v", text, got, fine)
		}
	}
}

// TestLines: a text of several lines is within its bound and hides nothing.
func TestLines(t *testing.T) {
	cases := map[string]bool{
		"": true, "One seat\r\non\t14 March": true, "👩\u200d🌾 نمی\u200cخواهم": true, "a\u00a0b": true, strings.Repeat("é", 30): true,
		strings.Repeat("x", 31): false, "\xff": false, "a\x00": false, "a\u0085b": false, "a\u009fb": false, "a\u202eb": false, "a\u200bb": false,
	}
	for text, fine := range cases {
		if got := contact.CheckLines(text, 30); got.IsZero() != fine {
			t.Errorf("Lines(%q) = %q, fine should be %v", text, got, fine)
		}
	}
}

// FuzzEmail (AP-11): whatever passes is one header-safe address that the mailer reads as
// given.
//
//fuzz:inputs 200000
func FuzzEmail(f *testing.F) {
	for _, seed := range []string{"ada@example.com", `"a"@b.co`, `"a b"@c.co`, "a@b", "a@[::1]", "a@[127.0.0.1]", "a(c)@b.co", "Ada <a@b.co>", "a@b.co\r\nBcc: x@y.z", "a@b.co\n", "ä@b.co", "a@b.co,x@y.z"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !contact.CheckEmail(text).IsZero() {
			return
		}
		parsed, err := mail.ParseAddress("Ada <" + text + ">")
		_, domain, _ := strings.Cut(text, "@")
		if err != nil || parsed.Address != text || !strings.Contains(domain, ".") || strings.ContainsFunc(text, func(r rune) bool {
			return r <= ' ' || r > '~' || strings.ContainsRune(`<>()[]",;:\`, r)
		}) || strings.Count(text, "@") != 1 || len(text) > 254 {
			t.Fatalf("%q passed: %v", text, err)
		}
	})
}

// FuzzName (AP-8): whatever passes shows only letters, marks and digits.
//
//fuzz:inputs 200000
func FuzzName(f *testing.F) {
	for _, seed := range []string{"Ada", "O\u0301", "\u202e", "7"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !contact.CheckName(text).IsZero() {
			return
		}
		if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool {
			return !unicode.In(r, unicode.L, unicode.M, unicode.Nd)
		}) {
			t.Fatalf("%q passed", text)
		}
	})
}

// TestMaskEmailsHidesWholeAddresses: a text keeps its words, and of each address the first
// character and the domain.
func TestMaskEmailsHidesWholeAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "",
		"Refused at 5 @ noon.":            "Refused at 5 @ noon.",
		"550 <ngozi@example.com> unknown": "550 <n…@example.com> unknown",
		"a@b.co,ämä@c.example: no such":   "a…@b.co,ä…@c.example: no such",
		strings.Repeat("n", 70) + "@b.co": "n…@b.co",
	} {
		got := contact.MaskEmails(text)
		if again := contact.MaskEmails(got); got != want || again != want {
			t.Errorf("MaskEmails(%q) = %q, and of that %q, want %q", text, got, again, want)
		}
	}
}

package webhooks

import (
	"strings"
	"testing"
	"time"

	"cointill/core/webhook/delivery"
	"cointill/core/webhook/diagnose"
	"cointill/views/words"
)

// TestEveryTypeIsExplained checks that the form says of each type of event what it tells.
func TestEveryTypeIsExplained(t *testing.T) {
	for _, kind := range chosenTypes() {
		if key := eventWords[kind]; key == "" {
			t.Errorf("the type %s has no explanation in the form", kind)
		}
	}
}

// TestAdviceIsTranslated checks that an attempt's row says in the reader's language what to do.
func TestAdviceIsTranslated(t *testing.T) {
	french := words.WithLanguage(t.Context(), "fr")
	for want, a := range map[string]delivery.Attempt{
		"comparez-le avec vos routes":                       {Status: 404, Error: "The endpoint answered 404 Not Found."},
		"Vérifiez l'orthographe du nom d'hôte":              {Code: diagnose.HostUnknown, Error: "The host name is not known."},
		"consultez le journal de votre serveur à cette min": {Code: "of a later release", Error: "It failed."},
	} {
		if got := attemptRow(french, a, time.UTC).Advice; !strings.Contains(got, want) {
			t.Errorf("the advice on %d %s is %q, want that it says %q", a.Status, a.Code, got, want)
		}
		if got := attemptRow(t.Context(), a, time.UTC).Advice; got != diagnose.Advice(a.Status, a.Code) {
			t.Errorf("the advice on %d %s in English is %q, want the core's", a.Status, a.Code, got)
		}
	}
}

// TestResultIsTranslated checks that an attempt's row says in the reader's language what was wrong.
func TestResultIsTranslated(t *testing.T) {
	for lang, sentences := range map[string][]string{
		"en": {"The endpoint answered 500 Internal Server Error.", "The endpoint answered 599.", "The host name is not known."},
		"fr": {"L'endpoint a répondu 500 Internal Server Error.", "L'endpoint a répondu 599.", "Le nom d'hôte est inconnu."},
	} {
		for i, a := range []delivery.Attempt{{Status: 500, Error: "x"}, {Status: 599, Error: "x"},
			{Code: diagnose.HostUnknown, Error: diagnose.HostUnknown.Describe()}} {
			if got := attemptRow(words.WithLanguage(t.Context(), lang), a, time.UTC).Result; got != sentences[i] {
				t.Errorf("%s: the result of %d %s is %q, want %q", lang, a.Status, a.Code, got, sentences[i])
			}
		}
	}
}

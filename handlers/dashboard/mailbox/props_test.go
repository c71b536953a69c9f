package mailbox

import (
	"strings"
	"testing"
	"time"

	"cointill/core/mail"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/words"
)

func TestMailProps(t *testing.T) {
	id, kept := int64(7), mail.Mail{ID: 3, State: mail.Kept, About: "PAY_1", CreatedAt: noon}
	if props := mailProps(layout.Page{}, kept, false, time.UTC); props.CanResend || props.PaymentReference != "" || props.ID != "3" {
		t.Errorf("%+v", props)
	}
	kept.PaymentID = &id
	if props := mailProps(layout.Page{}, kept, true, time.UTC); !props.CanResend || props.PaymentReference != "PAY_1" {
		t.Errorf("%+v", props)
	}
}

// TestMailThatMayHaveArrivedSaysWhenItIsSentOnceMore: the page of such a mail says when it is sent once more, and after
// that, that nothing follows by itself. A mail that is pending for another reason says neither.
func TestMailThatMayHaveArrivedSaysWhenItIsSentOnceMore(t *testing.T) {
	next := noon.Add(24 * time.Hour)
	lagos := time.FixedZone("Africa/Lagos", 3600)
	for name, c := range map[string]struct {
		mail mail.Mail
		want map[string]string // by language
	}{
		"waits": {mail.Mail{State: mail.Unknown, NextAt: &next}, map[string]string{
			"en": "Next and last automatic attempt: ", "fr": "Prochain et dernier envoi automatique\u00a0: "}},
		"ended": {mail.Mail{State: mail.Unknown, DoneAt: &next}, map[string]string{
			"en": "Cointill does not send it again automatically.", "fr": "Cointill ne le renvoie plus automatiquement."}},
		"refused for now": {mail.Mail{State: "pending", NextAt: &next, LastError: "busy"}, nil},
	} {
		props := mailProps(layout.Page{}, c.mail, true, lagos)
		if zero := props.OnceMore.IsZero(); zero == (name == "waits") || !zero && props.OnceMore.Format("15:04") != "13:00" {
			t.Errorf("%s: sent once more at %s, want 13:00 in Lagos only for the one that waits", name, props.OnceMore)
		}
		for _, lang := range []string{"en", "fr"} {
			var page strings.Builder
			if err := dashboard.Mail(props).Render(words.WithLanguage(t.Context(), lang), &page); err != nil {
				t.Fatal(err)
			}
			want, said := c.want[lang], "automati"
			if want == "" && strings.Contains(page.String(), said) || !strings.Contains(page.String(), want) {
				t.Errorf("%s, %s: the page lacks %q:\n%s", name, lang, want, page.String())
			}
		}
	}
}

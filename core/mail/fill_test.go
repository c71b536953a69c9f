package mail_test

import (
	"strings"
	"testing"

	"cointill/core/mail"
	"cointill/core/scope"
	"cointill/models"
)

// TestFill: what only the recipient may know is in the mail that leaves, in both
// forms, and neither in the database nor in any business's mailbox.
func TestFill(t *testing.T) {
	each(t, "", func(t *testing.T, b *bundle, p *post) {
		b.Fill = func(text string) string { return strings.ReplaceAll(text, "seed", "token") }
		notice := mail.Notice{Domain: scope.Live, Kind: "account_reset", About: "user 1", To: "ada@example.com", ToName: "Ada",
			Subject: "A link", Text: "/reset/seed\n", HTML: "<p>/reset/seed</p>"}
		if err := b.DB.Write(t.Context(), func(tx *models.Tx) error { return b.Notify(tx, notice) }); err != nil {
			t.Fatal(err)
		}
		if n := b.step(); n != 1 {
			t.Fatalf("%d mails", n)
		}
		sent := p.messages()
		if len(sent) != 1 || strings.Count(sent[0], "/reset/token") != 2 || strings.Contains(sent[0], "seed") {
			t.Errorf("sent = %v", sent)
		}
		var row models.Mail
		if err := b.DB.Read(t.Context()).Take(&row).Error; err != nil || strings.Contains(row.Text+row.HTML, "token") || row.Outcome != mail.Sent {
			t.Errorf("b.DB.Read(t.Context()).Take(&row).Error: row = %v, err = %v", row, err)
		}
		if list, _, err := b.ListMails(t.Context(), owner, "", 0); err != nil || len(list) != 0 {
			t.Errorf(`b.List(owner, "", 0): list = %v, err = %v`, list, err)
		}
	})
}

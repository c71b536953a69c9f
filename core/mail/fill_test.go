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
		if list, _, err := b.ListMails(t.Context(), owner, 0, 25); err != nil || len(list) != 0 {
			t.Errorf(`b.List(owner, "", 0): list = %v, err = %v`, list, err)
		}
	})
}

// TestMailboxOfTheTestDomainIsWhereCustomersRead: it shows a mail that was kept as the recipient
// would get it. In live, and where a mail server took the mail, it never does.
func TestMailboxOfTheTestDomainIsWhereCustomersRead(t *testing.T) {
	each(t, "", func(t *testing.T, b *bundle, _ *post) {
		b.Fill = func(text string) string { return strings.ReplaceAll(text, "seed", "token") }
		queue := func(domain scope.Domain, about string) {
			t.Helper()
			notice := mail.Notice{BusinessID: owner.BusinessID, Domain: domain, Kind: "send_confirm", About: about,
				To: "ada@example.com", Subject: "A link", Text: "/confirm/seed", HTML: "<p>/confirm/seed</p>"}
			if err := b.DB.Write(t.Context(), func(tx *models.Tx) error { return b.Notify(tx, notice) }); err != nil {
				t.Fatal(err)
			}
		}
		read := func(domain scope.Domain) mail.Mail {
			t.Helper()
			sc := owner
			sc.Domain = domain
			list, _, err := b.ListMails(t.Context(), sc, 0, 1)
			if err != nil || len(list) != 1 {
				t.Fatalf("the mailbox of %s lists %d mails (%v), want 1", domain, len(list), err)
			}
			m, err := b.FindMail(t.Context(), sc, list[0].ID)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		expect := func(m mail.Mail, want string) {
			t.Helper()
			if m.Text != "/confirm/"+want {
				t.Errorf("a mail that is %s shows %q, want %q", m.State, m.Text, want)
			}
		}
		queue(scope.Test, "1")
		expect(read(scope.Test), "seed") // it may still be sent
		b.step()
		expect(read(scope.Test), "seed") // the mail server took it
		b.SMTP = nil
		queue(scope.Test, "2")
		queue(scope.Live, "3")
		b.step()
		expect(read(scope.Test), "token")
		expect(read(scope.Live), "seed")
		var row models.Mail
		if err := b.DB.Read(t.Context()).Where("about = ?", "2").Take(&row).Error; err != nil ||
			strings.Contains(row.Text+row.HTML, "token") {
			t.Errorf("the database holds %q (%v), want no token", row.Text, err)
		}
	})
}

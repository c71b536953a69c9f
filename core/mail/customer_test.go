package mail_test

import (
	"strings"
	"testing"

	"cointill/core/mail"
	"cointill/core/scope"
	"cointill/models"
)

// TestCustomersAreNamedInMailsToMembers: a mail about notifications leaves with the name of its business's customer, and
// a dash for a payment of another business. No name is filled into a mail of another kind, nor into a name.
func TestCustomersAreNamedInMailsToMembers(t *testing.T) {
	each(t, "", func(t *testing.T, b *bundle, p *post) {
		for reference, payment := range map[string]models.Payment{
			"PAY_1": {BusinessID: owner.BusinessID, CustomerName: "<Ngozi> {customer of PAY_2}"},
			"PAY_2": {BusinessID: owner.BusinessID + 1, CustomerName: "Theirs"},
		} {
			payment.Reference, payment.TokenHash, payment.BusinessReference = reference, reference, reference
			payment.Domain, payment.Amount = string(scope.Live), 1
			if err := b.DB.Exec(t.Context()).Create(&payment).Error; err != nil {
				t.Fatal(err)
			}
		}
		text := "by " + mail.CustomerPlaceholder("PAY_1") + ", by " + mail.CustomerPlaceholder("PAY_2")
		for kind, want := range map[string]string{
			"notification":      "by <Ngozi> {customer of PAY_2}, by –",
			"send_claim_notice": text,
		} {
			notice := mail.Notice{BusinessID: owner.BusinessID, Domain: scope.Live, Kind: kind, About: kind,
				To: "ada@example.com", Subject: kind, Text: text, HTML: "<p>" + text + "</p>"}
			if err := b.DB.Write(t.Context(), func(tx *models.Tx) error { return b.Notify(tx, notice) }); err != nil {
				t.Fatal(err)
			}
			b.step()
			var row models.Mail
			if err := b.DB.Read(t.Context()).Where("kind = ?", kind).Take(&row).Error; err != nil || row.Text != text {
				t.Errorf("%s is stored as %q (error %v), want it without names", kind, row.Text, err)
			}
			sc := owner
			sc.Domain = scope.Live
			if m, err := b.FindMail(t.Context(), sc, row.ID); err != nil || m.Text != want {
				t.Errorf("%s shows %q (error %v), want %q", kind, m.Text, err, want)
			}
			sent := p.messages()
			named := strings.Contains(sent[len(sent)-1], "by <Ngozi>")
			escaped := strings.Contains(sent[len(sent)-1], "by &lt;Ngozi&gt;") // in HTML
			if named != (kind == "notification") || escaped != named || strings.Contains(sent[len(sent)-1], "Theirs") {
				t.Errorf("%s leaves as %q", kind, sent[len(sent)-1])
			}
		}
	})
}

package dashboard_test

import (
	"strings"
	"testing"

	"cointill/core/scope"
	"cointill/internal/testing/servertest"
	"cointill/models"
)

// TestInvitationMailFailed: the team's page says that a mail didn't go, why, and
// what to do; only then it shows the link where there is a mail server.
func TestInvitationMailFailed(t *testing.T) {
	servertest.RunEach(t, func(t *testing.T, s *servertest.Server) {
		sc := s.CreateBusiness("Ama's Shop", ama)
		s.UseMailServer()
		in, err := s.Accounts.Invite(t.Context(), sc, "new@shop.example", scope.Finance)
		s.FailOn(err)
		b := s.SignIn(ama)
		set := func(columns map[string]any) {
			s.FailOn(s.DB.Exec(t.Context()).Model(&models.Mail{}).Where("to_address = ?", "new@shop.example").Updates(columns).Error)
		}
		for _, c := range []struct {
			columns map[string]any
			text    string
			link    bool
		}{
			{map[string]any{"outcome": "sent"}, "", false},
			{map[string]any{"outcome": "", "done_at": nil, "last_error": "The server is busy."}, "The e-mail has not been sent yet. The server is busy. Cointill tries again", false},
			{map[string]any{"outcome": "unknown", "last_error": "x"}, "The e-mail may not have arrived.", false},
			{map[string]any{"outcome": "failed", "last_error": "No such mailbox."}, "The e-mail was not sent. No such mailbox. Check the address. Then resend the invitation, or share the link yourself.", true},
		} {
			set(c.columns)
			page := b.Get(teamAt)
			expect(t, page, 200, "new@shop.example", c.text)
			if strings.Contains(page.Body, in.Link) != c.link || c.text == "" && strings.Contains(page.VisibleText(), "The mail") {
				t.Errorf("%v: %s", c.columns, page.VisibleText())
			}
		}
	})
}

package views_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/a-h/templ"

	"cointill/core/account/auth"
	"cointill/core/scope"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/mail"
	"cointill/views/ui"
)

// peoplePages are the pages about accounts and the team, in every state.
func peoplePages() map[string]templ.Component {
	own, team := shell("Your account", "account"), shell("Team", "team")
	wrong := func(field, typed, sentence string) ui.Form {
		return ui.Form{Values: map[string]string{field: typed}, Errors: map[string][]string{field: {sentence}}}
	}
	code := wrong("code", "", "This code is wrong or was already used. Wait for the next one, or use a recovery code.")
	seats := []dashboard.SeatRow{{Key: "a", Browser: "Firefox on Linux", IP: "203.0.113.9", SignedIn: now, Seen: now, Here: true},
		{Key: "b", Browser: "Safari on iPhone", IP: "2001:db8:85a3:8d3:1319:8a2e:370:7348", SignedIn: now.Add(-3 * time.Hour), Seen: now.Add(-time.Minute)}}
	places := []dashboard.PlaceRow{{ID: "1", Name: "Sunbird Coffee", Role: "Owner", Here: true}, {ID: "2", Name: "Harmattan Logistics and Cold Storage International", Role: "Finance"}}
	invited := dashboard.InvitationProps{CSRF: "token", Action: "/invitation/x", Business: "Sunbird Coffee", By: "Amara Okafor", Email: "chidi@sunbird.example", Role: "Finance", RoleText: "Finance can see transactions, payment links and exports, in test and live.", SignIn: "/sign-in"}
	known, mine, refused := invited, invited, invited
	known.Known, known.SomebodyElse, mine.Known, mine.Mine, refused.By = true, true, true, true, ""
	refused.Form = wrong("password", "", "Must have at least 12 characters.")
	pages := map[string]templ.Component{
		"sign-in-code":          dashboard.SignInCode(dashboard.CodeProps{CSRF: "token", Next: "/dashboard/keys"}),
		"sign-in-code-refused":  dashboard.SignInCode(dashboard.CodeProps{CSRF: "token", Form: code}),
		"forgot":                dashboard.Forgot(dashboard.ForgotProps{CSRF: "token"}),
		"forgot-refused":        dashboard.Forgot(dashboard.ForgotProps{CSRF: "token", Form: wrong("email", "nobody", "Must be a plain e-mail address such as ada@example.com.")}),
		"forgot-sent":           dashboard.Forgot(dashboard.ForgotProps{Sent: true, Form: ui.Form{Values: map[string]string{"email": "amara@sunbird.example"}}}),
		"forgot-no-server":      dashboard.Forgot(dashboard.ForgotProps{NoServer: true}),
		"reset":                 dashboard.Reset(dashboard.ResetProps{CSRF: "token", Action: "/reset/x", Email: "amara@sunbird.example", Form: refused.Form}),
		"email-confirm":         dashboard.EmailConfirm(dashboard.EmailConfirmProps{CSRF: "token", Action: "/email/x", Before: "amara@sunbird.example", After: "okafor@sunbird.example"}),
		"invitation":            dashboard.Invitation(invited),
		"invitation-refused":    dashboard.Invitation(refused),
		"invitation-known":      dashboard.Invitation(known),
		"invitation-mine":       dashboard.Invitation(mine),
		"account":               dashboard.Account(dashboard.AccountProps{Page: own, Form: ui.Form{Values: map[string]string{"name": "Amara Okafor"}}, Email: "amara@sunbird.example", FactorSentence: "You sign in with your password only.", Passkeys: "None. A passkey lets you sign in with your fingerprint, face or PIN.", Seats: seats[:1]}),
		"account-full":          dashboard.Account(dashboard.AccountProps{Page: own, Form: wrong("name", "\u202eAmara", "May not hold invisible or control characters."), Email: "amara@sunbird.example", SecondFactor: true, FactorSentence: "2 recovery codes left. Create new ones.", Passkeys: "3 passkeys. One was refused. Please check it.", Seats: seats, Places: places}),
		"password":              dashboard.Password(dashboard.PasswordProps{Page: own}),
		"password-refused":      dashboard.Password(dashboard.PasswordProps{Page: own, Form: wrong("password", "", "This isn't your password.")}),
		"email":                 dashboard.Email(dashboard.EmailProps{Page: own}),
		"email-factor":          dashboard.Email(dashboard.EmailProps{Page: own, SecondFactor: true, Form: code}),
		"email-no-server":       dashboard.Email(dashboard.EmailProps{Page: own, NoServer: true}),
		"factor-off":            dashboard.SecondFactor(dashboard.FactorProps{Page: own}),
		"factor-on":             dashboard.SecondFactor(dashboard.FactorProps{Page: own, On: true, Since: "21 Nov 2026, 05:14", Left: "10 recovery codes left."}),
		"factor-few":            dashboard.SecondFactor(dashboard.FactorProps{Page: own, On: true, Since: "21 Nov 2026, 05:14", Left: "1 recovery code left. Create new ones.", Few: true, Form: code}),
		"factor-setup":          dashboard.FactorSetup(dashboard.FactorSetupProps{Page: own, QR: qr("otpauth://totp/Cointill:amara@sunbird.example?algorithm=SHA1&digits=6&issuer=Cointill&period=30&secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"), Key: "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", Sealed: "x"}),
		"factor-setup-refused":  dashboard.FactorSetup(dashboard.FactorSetupProps{Page: own, QR: qr("otpauth://totp/x"), Key: "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ", Form: code}),
		"factor-codes":          dashboard.RecoveryCodes(dashboard.CodesProps{Page: own, Codes: []string{"7Q2MX-4LR7T", "ZKC1B-N3W9H", "0D5ZP-8VGA2", "Y6E3J-T1MKR"}}),
		"team":                  dashboard.Team(teamPage(team)),
		"team-alone":            dashboard.Team(dashboard.TeamProps{Page: team, Members: teamPage(team).Members[:1], Roles: teamPage(team).Roles, NoServer: true, Form: wrong("email", "nobody", "Must be a plain e-mail address such as ada@example.com."), Rights: teamPage(team).Rights}),
		"passkeys":              dashboard.Passkeys(passkeysPage(own)),
		"passkeys-none":         dashboard.Passkeys(dashboard.PasskeysProps{Page: own, Origin: "https://till.example", Form: wrong("name", "", "Is required.")}),
		"passkeys-nowhere":      dashboard.Passkeys(dashboard.PasskeysProps{Page: own}),
		"passkey":               dashboard.Passkey(dashboard.PasskeyProps{Page: own, Row: passkeysPage(own).Rows[1], Form: ui.Form{Values: map[string]string{"name": passkeysPage(own).Rows[1].Name}}}),
		"passkey-refused":       dashboard.Passkey(dashboard.PasskeyProps{Page: own, Row: passkeysPage(own).Rows[0], SecondFactor: true, Form: code}),
		"passkey-setup":         dashboard.PasskeySetup(dashboard.PasskeySetupProps{Page: own, Name: "Amara’s phone", Origin: "https://till.example", Options: `{"publicKey":{}}`}),
		"sign-in-passkey":       dashboard.SignIn(dashboard.SignInProps{CSRF: "token", PasskeyOrigin: "https://till.example", Form: ui.Form{Errors: map[string][]string{"": {"This passkey does not sign anybody in here. It may have been removed. Try another one, or use your password."}}}}),
		"sign-in-removed":       dashboard.SignIn(dashboard.SignInProps{CSRF: "token", Notice: "You are no longer a member of a business here. Ask an owner for an invitation."}),
		"sign-in-refused-email": dashboard.SignIn(dashboard.SignInProps{CSRF: "token", Form: ui.Form{Values: map[string]string{"email": "amara@sunbird.example"}, Errors: map[string][]string{"": {"The e-mail address or the password is wrong."}}}}),
	}
	for _, kind := range auth.LetterKinds() {
		pages["mail-"+string(kind)] = mail.Notice(mail.AccountNotice(newLetter(kind)))
	}
	return pages
}

func passkeysPage(page layout.Page) dashboard.PasskeysProps {
	return dashboard.PasskeysProps{Page: page, Origin: "https://till.example", SecondFactor: true, Rows: []dashboard.PasskeyRow{
		{Key: "3", Name: "Amara’s phone", Synced: true, Added: now, Used: now.Add(time.Minute)},
		{Key: "2", Name: "Blue security key on the key ring of the Harmattan Logistics office in Kano", Added: now.Add(-300 * time.Hour), Used: now.Add(-4 * time.Hour), Copied: now.Add(-time.Hour)},
		{Key: "1", Name: "Work laptop", Added: now.Add(-900 * time.Hour)},
	}}
}

func teamPage(page layout.Page) dashboard.TeamProps {
	page.Once = "once"
	return dashboard.TeamProps{Page: page,
		Members: []dashboard.MemberRow{
			{ID: "1", Name: "Amara Okafor", Email: "amara@sunbird.example", Role: "owner", RoleName: "Owner", SecondFactor: true, Since: now, You: true},
			{ID: "2", Name: "Bartholomew Adeyemi-Featherstonehaugh", Email: "bartholomew.adeyemi-featherstonehaugh@accounting.sunbird.example", Role: "finance", RoleName: "Finance", Since: now},
			{ID: "3", Name: "Chidi Nwosu", Email: "chidi@sunbird.example", Role: "owner", RoleName: "Owner", Since: now, Fixed: true},
		},
		Invitations: []dashboard.InvitationRow{
			{ID: "1", Email: "dede@sunbird.example", RoleName: "Developer", By: "Amara Okafor", Sent: now, Until: now.Add(7 * 24 * time.Hour), Link: "https://till.example/invitation/C2FVsBQIhrscChlQIMVb5sSYspob7oDC2FVsBQIhrsc"},
			{ID: "3", Email: "fola@subnird.example", RoleName: "Finance", By: "Amara Okafor", Sent: now, Until: now.Add(7 * 24 * time.Hour), Trouble: "The e-mail was not sent. The mail server refused the recipient: no such domain. Check the address. Then resend the invitation, or share the link yourself.", Link: "https://till.example/invitation/C2FVsBQIhrscChlQIMVb5sSYspob7oDC2FVsBQIhrsd"},
			{ID: "2", Email: "efua@sunbird.example", RoleName: "Owner", Sent: now.Add(-8 * 24 * time.Hour), Over: true, Fixed: true},
		},
		Roles:  []ui.Option{{Value: "owner", Label: "Owner"}, {Value: "admin", Label: "Admin"}, {Value: "finance", Label: "Finance"}, {Value: "developer", Label: "Developer"}},
		Rights: []dashboard.RightRow{{What: "See transactions, customers and exports", May: [5]string{"yes", "yes", "yes", "in test", ""}}, {What: "Change wallets", May: [5]string{"yes", "", "", "", ""}}},
	}
}

func newLetter(kind auth.LetterKind) auth.Letter {
	l := auth.Letter{Kind: kind, To: auth.User{ID: 1, Name: "Amara Okafor", Email: "amara@sunbird.example"}, By: auth.User{Name: "Chidi Nwosu", Email: "chidi@sunbird.example"},
		Business: "Sunbird Coffee", Role: scope.Finance, UserAgent: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0", IP: "203.0.113.9",
		NewEmail: "okafor@sunbird.example", Passkey: "Amara’s phone", At: now, URL: "https://till.example/dashboard/account"}
	if slices.Contains([]auth.LetterKind{auth.InviteSent, auth.Reset, auth.EmailConfirm}, kind) {
		l.Until = now.Add(time.Hour)
	}
	return l
}

// TestAccountMails: each mail about an account says what happened in both forms,
// and escapes what others chose.
func TestAccountMails(t *testing.T) {
	for _, kind := range auth.LetterKinds() {
		l := newLetter(kind)
		l.Business, l.By.Name, l.NewEmail, l.Passkey = "<script>x</script>", "<script>y</script>", "<script>z</script>", "<script>p</script>"
		subject, text, html := mail.RenderAccount(l)
		if subject == "" || len(text) < 200 || len(html) < 2000 || strings.Contains(html, "<script>") || !strings.Contains(text, l.URL) || !strings.Contains(html, l.URL) {
			t.Errorf("%s: %q\n%s", kind, subject, text)
		}
		if !l.Until.IsZero() && !strings.Contains(text, "21 November 2026, 06:14 UTC") {
			t.Errorf("%s says not how long its link works: %s", kind, text)
		}
	}
}

// TestBrowser names browsers as people do.
func TestBrowser(t *testing.T) {
	for agent, want := range map[string]string{
		"": "Unknown browser", "curl/8.5.0": "curl", "Mozilla/5.0 (Wii)": "Unknown browser",
		"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0":                                                                  "Firefox on Linux",
		"Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0 Safari/537.36 Edg/139.0":                   "Edge on Windows",
		"Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1": "Safari on iPhone",
		"Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/139.0 Mobile Safari/537.36":                                "Chrome on Android",
		"Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15":                   "Safari on macOS",
		"something (Linux)": "A browser on Linux",
	} {
		if got := ui.BrowserName(context.Background(), agent); got != want {
			t.Errorf("%q: %q, want %q", agent, got, want)
		}
	}
}

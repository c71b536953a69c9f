package mail

import (
	"cointill/core/account/auth"
	"cointill/views/ui"
	"cointill/views/words"
)

// AccountNotice returns a mail about a user's account.
func AccountNotice(l auth.Letter) NoticeProps {
	ctx := spokenTo(l.To)
	if l.Kind == auth.InviteSent && l.To.ID == 0 { // as the person who invites
		ctx = spokenTo(l.By)
	}
	p := NoticeProps{Reader: words.LanguageOf(ctx), Name: l.To.Name, URL: l.URL, URLText: words.T(ctx, "mail.see_your_account"),
		Footer: words.T(ctx, "mail.sent_to", "Email", l.To.Email)}
	at, ends := line{words.T(ctx, "mail.date"), dateText(ctx, l.At)},
		line{words.T(ctx, "mail.the_link_works_until"), ""}
	if !l.Until.IsZero() {
		ends.value = dateText(ctx, l.Until)
	}
	notMe := words.T(ctx, "mail.not_me")
	switch l.Kind {
	case auth.InviteSent:
		p.Title = words.T(ctx, "mail.invite_title", "Name", l.By.Name, "Business", l.Business)
		p.Before = []string{words.T(ctx, "mail.invite_text", "Name", l.By.Name, "Email", l.By.Email, "Business",
			l.Business)}
		p.lines = []line{{words.T(ctx, "mail.business"), l.Business},
			{words.T(ctx, "mail.your_role"), ui.RoleWord(ctx, string(l.Role))}, ends}
		p.After = []string{words.T(ctx, "mail.invite_after")}
		p.URLText = words.T(ctx, "mail.invite_see")
	case auth.Reset:
		p.Title = words.T(ctx, "mail.choose_a_new_password")
		p.Before = []string{words.T(ctx, "mail.reset_text")}
		p.lines = []line{ends, {words.T(ctx, "mail.asked_from"), l.IP}}
		p.After = []string{words.T(ctx, "mail.reset_after")}
		p.URLText = words.T(ctx, "mail.choose_a_new_password")
	case auth.NewDevice:
		p.Title = words.T(ctx, "mail.new_device_title")
		p.Before = []string{words.T(ctx, "mail.new_device_text")}
		p.lines = []line{{words.T(ctx, "mail.browser"), ui.BrowserName(ctx, l.UserAgent)},
			{words.T(ctx, "mail.address"), l.IP}, at}
		p.After = []string{words.T(ctx, "mail.new_device_after", "NotMe", notMe)}
	case auth.EmailConfirm:
		p.Title = words.T(ctx, "mail.confirm_title")
		p.Before = []string{words.T(ctx, "mail.confirm_text")}
		p.lines = []line{{words.T(ctx, "mail.new_address"), l.NewEmail}, ends}
		p.After = []string{words.T(ctx, "mail.confirm_after")}
		p.URLText = words.T(ctx, "mail.confirm_see")
	case auth.EmailAsked:
		p.Title = words.T(ctx, "mail.address_asked_title")
		p.Before = []string{words.T(ctx, "mail.address_asked_text")}
		p.lines = []line{{words.T(ctx, "mail.new_address"), l.NewEmail}, at}
		p.After = []string{words.T(ctx, "mail.address_asked_after", "NotMe", notMe)}
	case auth.EmailChanged:
		p.Title = words.T(ctx, "mail.address_changed_title")
		p.Before = []string{words.T(ctx, "mail.address_changed_text")}
		p.lines = []line{{words.T(ctx, "mail.new_address"), l.NewEmail}, at}
		p.After = []string{words.T(ctx, "mail.address_changed_after")}
	case auth.PasswordChanged:
		p.Title = words.T(ctx, "mail.password_title")
		p.Before = []string{words.T(ctx, "mail.password_text")}
		p.lines = []line{at}
		p.After = []string{words.T(ctx, "mail.password_after")}
	case auth.FactorOn:
		p.Title = words.T(ctx, "mail.factor_on_title")
		p.Before = []string{words.T(ctx, "mail.factor_on_text")}
		p.lines = []line{at}
		p.After = []string{notMe}
	case auth.FactorOff:
		p.Title = words.T(ctx, "mail.factor_off_title")
		p.Before = []string{words.T(ctx, "mail.factor_off_text")}
		p.lines = []line{at}
		p.After = []string{notMe}
	case auth.PasskeyAdded:
		p.Title = words.T(ctx, "mail.passkey_added_title")
		p.Before = []string{words.T(ctx, "mail.passkey_added_text")}
		p.lines = []line{{words.T(ctx, "mail.passkey"), l.Passkey}, at}
		p.After = []string{words.T(ctx, "mail.passkey_added_after")}
	case auth.PasskeyRemoved:
		p.Title = words.T(ctx, "mail.passkey_removed_title")
		p.Before = []string{words.T(ctx, "mail.passkey_removed_text")}
		p.lines = []line{{words.T(ctx, "mail.passkey"), l.Passkey}, at}
		p.After = []string{notMe}
	case auth.PasskeyCopied:
		p.Title = words.T(ctx, "mail.passkey_copied_title")
		p.Before = []string{words.T(ctx, "mail.passkey_copied_text")}
		p.lines = []line{{words.T(ctx, "mail.passkey"), l.Passkey}, at}
		p.After = []string{words.T(ctx, "mail.passkey_copied_after")}
	}
	return p
}

// RenderAccount writes a mail about a user's account. Its HTML form is left out
// when it can't be written: the text says the same.
func RenderAccount(l auth.Letter) (subject, text, html string) {
	return renderNotice(AccountNotice(l))
}

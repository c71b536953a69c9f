package mail

import (
	"strconv"

	"cointill/core/notification/email"
	"cointill/core/scope"
	"cointill/views/notice"
	"cointill/views/words"
)

// Notification is the mail to a member about what happened in a business.
func Notification(l email.Letter) NoticeProps {
	ctx := spokenTo(l.To)
	p := NoticeProps{Reader: l.To.Language, Name: l.To.Name, Test: l.Domain == scope.Test, URL: l.URL,
		URLText: words.T(ctx, "mail.notification_see"), SettingsURL: l.SettingsURL,
		Footer: words.T(ctx, "mail.notification_sent_to", "Email", l.To.Email, "Business", l.Business)}
	if l.Kind == email.Single {
		n := l.Notifications[0]
		p.Title = words.T(ctx, "mail.notification_title", "Business", l.Business, "Title", notice.Title(ctx, n))
		p.lines = filledLines([]line{{words.T(ctx, "mail.notification_kind"), notice.KindName(ctx, n.Kind)},
			{words.T(ctx, "payment.customer"), n.Payer.Customer},
			{words.T(ctx, "mail.notification_purpose"), n.Payer.Purpose},
			{words.T(ctx, "mail.notification_detail"), notice.Detail(ctx, n)},
			{words.T(ctx, "mail.date"), dateText(ctx, n.At.In(l.Zone))}})
		return p
	}
	p.URLText = words.T(ctx, "mail.notification_see_all")
	p.Title = words.N(ctx, "mail.notification_daily_title", l.Count, "Business", l.Business)
	p.Before = []string{words.T(ctx, "mail.notification_daily_text")}
	if l.Kind == email.Held {
		p.Title = words.N(ctx, "mail.notification_held_title", l.Count, "Business", l.Business)
		p.Before = []string{words.T(ctx, "mail.notification_held_text", "N", strconv.Itoa(email.MaxPerHour))}
	}
	for _, n := range l.Notifications {
		p.lines = append(p.lines, line{words.FormatTime(ctx, n.At.In(l.Zone), "2 Jan, 15:04"), notice.Line(ctx, n)})
	}
	if more := l.Count - len(l.Notifications); more > 0 {
		p.After = []string{words.N(ctx, "mail.notification_more", more)}
	}
	return p
}

// RenderNotification writes that mail. Its HTML form is left out when it can't be written: the text says the same.
func RenderNotification(l email.Letter) (subject, text, html string) {
	return renderNotice(Notification(l))
}

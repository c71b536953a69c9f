package mail

import (
	"context"
	"strings"

	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/views/words"
)

// WebhookOff is the notice that Cointill switched a webhook off.
func WebhookOff(n webhook.Notice) NoticeProps {
	const layout = "2 January 2006, 15:04 MST"
	e := n.Endpoint
	return NoticeProps{
		Title: words.T(english, "mail.webhook_title", "Business", n.Business, "Name", e.Name), Name: n.Owner.Name,
		Test:   n.Domain == scope.Test,
		Before: []string{words.T(english, "mail.webhook_text", "Business", n.Business)},
		lines: filledLines([]line{
			{words.T(english, "mail.webhook"), e.Name}, {"URL", e.URL}, {words.T(english, "mail.why"), e.OffReason},
			{words.T(english, "mail.failing_since"), n.Since.Format(layout)},
			{words.T(english, "mail.switched_off"), n.At.Format(layout)},
		}),
		After: []string{words.T(english, "mail.webhook_after")},
		URL:   n.URL, URLText: words.T(english, "mail.webhook_see"),
	}
}

// RenderWebhookOff writes the mail of a webhook that was switched off. Its HTML
// form is left out when it can't be written: the text says the same.
func RenderWebhookOff(n webhook.Notice) (subject, text, html string) {
	return renderNotice(WebhookOff(n))
}

// renderNotice returns a notice as a mail.
func renderNotice(p NoticeProps) (subject, text, html string) {
	var page strings.Builder
	if err := Notice(p).Render(context.Background(), &page); err != nil {
		page.Reset()
	}
	return p.Subject(), NoticeText(p), page.String()
}

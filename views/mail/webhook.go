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
	e, ctx := n.Endpoint, spokenTo(n.Owner)
	return NoticeProps{Reader: n.Owner.Language,
		Title: words.T(ctx, "mail.webhook_title", "Business", n.Business, "Name", e.Name), Name: n.Owner.Name,
		Test:   n.Domain == scope.Test,
		Before: []string{words.T(ctx, "mail.webhook_text", "Business", n.Business)},
		lines: filledLines([]line{
			{words.T(ctx, "mail.webhook"), e.Name}, {"URL", e.URL},
			{words.T(ctx, "mail.why"), words.Problem(ctx, e.OffCode, e.OffReason)},
			{words.T(ctx, "mail.failing_since"), dateText(ctx, n.Since)},
			{words.T(ctx, "mail.switched_off"), dateText(ctx, n.At)},
		}),
		After: []string{words.T(ctx, "mail.webhook_after")},
		URL:   n.URL, URLText: words.T(ctx, "mail.webhook_see"),
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

package mail

import (
	"context"
	"strings"

	"cointill/core/scope"
	"cointill/core/webhook"
)

// WebhookOff is the notice that Cointill switched a webhook off.
func WebhookOff(n webhook.Notice) NoticeProps {
	const layout = "2 January 2006, 15:04 MST"
	e := n.Endpoint
	return NoticeProps{
		Title: n.Business + ": the webhook “" + e.Name + "” is off", Name: n.Owner.Name, Test: n.Domain == scope.Test,
		Before: []string{"A webhook of " + n.Business + " was switched off, because its endpoint takes no events. " +
			"Whatever waits for them, such as orders to be fulfilled, is not told of payments any more."},
		lines: filled([]line{
			{"Webhook", e.Name}, {"URL", e.URL}, {"Why", e.OffReason}, {"Failing since", n.Since.Format(layout)}, {"Switched off", n.At.Format(layout)},
		}),
		After: []string{"Payments go on, and the dashboard shows them. Repair the endpoint, switch the webhook on again, and send what it missed: " +
			"events are kept for 60 days."},
		URL: n.URL, URLText: "See its last attempts and switch it on",
	}
}

// RenderWebhookOff writes the mail of a webhook that was switched off. Its HTML
// form is left out when it can't be written: the text says the same.
func RenderWebhookOff(n webhook.Notice) (subject, text, html string) {
	return rendered(WebhookOff(n))
}

// rendered is a notice as a mail.
func rendered(p NoticeProps) (subject, text, html string) {
	var page strings.Builder
	if err := Notice(p).Render(context.Background(), &page); err != nil {
		page.Reset()
	}
	return p.Subject(), NoticeText(p), page.String()
}

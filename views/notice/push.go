package notice

import (
	"context"
	"fmt"

	"cointill/core/notification/push"
	"cointill/core/scope"
	"cointill/views/words"
)

// maxPushed is how many characters of a text a browser is sent.
const maxPushed = 300

// Push writes what a browser shows. On a lock screen others read it: amounts and names stand there only where the
// member allows it.
func Push(l push.Letter) push.Shown {
	ctx := words.WithLanguage(context.Background(), words.ChooseDashboardLanguage(l.To.Language, ""))
	n := l.Notification
	shown := push.Shown{Title: KindName(ctx, n.Kind), Text: l.Business, Tag: string(n.Kind) + " " + n.Subject,
		Path: fmt.Sprintf("/dashboard/notifications/%d", n.ID)}
	if l.Amounts {
		shown.Title, shown.Text = Title(ctx, n), joinParts(l.Business, Text(ctx, n))
	}
	if l.Domain == scope.Test {
		shown.Text = joinParts(words.T(ctx, "layout.test_data"), shown.Text)
	}
	if text := []rune(shown.Text); len(text) > maxPushed {
		shown.Text = string(text[:maxPushed])
	}
	return shown
}

// Package notifications shows what happened in a business, and lets members choose the mails about it and the
// browsers that show it.
package notifications

import (
	"context"

	"cointill/core/notification"
	"cointill/core/notification/push"
	"cointill/core/scope"
	"cointill/handlers/page"
)

// Notifications is what these pages need of core/notification.
type Notifications interface {
	Choices(ctx context.Context, sc scope.Scope, channel notification.Channel) (map[notification.Kind]notification.Mode,
		error)
	Find(ctx context.Context, sc scope.Scope, id int64) (notification.Notification, error)
	List(ctx context.Context, sc scope.Scope, before int64, limit int) (list []notification.Notification, next int64,
		err error)
	MarkAllRead(ctx context.Context, sc scope.Scope, to int64) error
	MarkRead(ctx context.Context, sc scope.Scope, id int64) error
	SetChoices(ctx context.Context, sc scope.Scope, channel notification.Channel,
		modes map[notification.Kind]notification.Mode) error
}

// Browsers is what these pages need of core/notification/push.
type Browsers interface {
	List(ctx context.Context, sc scope.Scope, session string) ([]push.Browser, error)
	MarkOf(sc scope.Scope) string
	PublicKey(ctx context.Context) (string, error)
	Register(ctx context.Context, sc scope.Scope, session string, sub push.Subscription) error
	Remove(ctx context.Context, sc scope.Scope, id int64) error
	ShowAmounts(ctx context.Context, sc scope.Scope, id int64, show bool) error
}

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Notifications Notifications
	Browsers      Browsers
}

// Routes declares the routes of these pages. Each member sees the kinds that their role may see.
func (h *Handlers) Routes(m page.Members) {
	m.Get(listPath, scope.SeeMethods, h.listNotifications)
	m.Post(listPath+"/read", scope.SeeMethods, h.markAllRead)
	m.Get(choicesPath, scope.SeeMethods, h.showChoicesPage)
	m.Post(choicesPath, scope.SeeMethods, h.saveChoices)
	m.Get(browsersPath, scope.SeeMethods, h.showBrowsersPage)
	m.Post(browsersPath, scope.SeeMethods, h.addBrowser)
	m.Get(browsersPath+"/key", scope.SeeMethods, h.sendKey)
	m.Post(browsersPath+"/kinds", scope.SeeMethods, h.saveKinds)
	m.Post(browsersPath+"/:id", scope.SeeMethods, h.setAmounts)
	m.Post(browsersPath+"/:id/remove", scope.SeeMethods, h.removeBrowser)
	m.Get(listPath+"/:id", scope.SeeMethods, h.openNotification)
	m.Post(listPath+"/:id/read", scope.SeeMethods, h.markRead)
}

const (
	listPath     = "/dashboard/notifications"
	choicesPath  = listPath + "/settings"
	browsersPath = listPath + "/browsers"
)

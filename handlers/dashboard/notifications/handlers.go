// Package notifications shows what happened in a business, and lets members choose the mails about it and the
// browsers that show it.
package notifications

import (
	"cointill/core/notification"
	"cointill/core/notification/push"
	"cointill/core/scope"
	"cointill/handlers/page"
)

// Handlers answers the requests to these pages. Its fields are set before use.
type Handlers struct {
	Notifications *notification.Service
	Browsers      *push.Service
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

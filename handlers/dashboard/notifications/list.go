package notifications

import (
	"net/http"
	"strconv"
	"strings"

	"cointill/core/notification"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/views/dashboard"
	"cointill/views/notice"
	"cointill/views/ui"
	"cointill/views/words"
)

// listNotifications lists notifications, newest first.
func (h *Handlers) listNotifications(c *page.Ctx) error {
	ctx, from, zone := c.UserContext(), page.ReadBefore(c), page.LoadZone(c.Member.Business)
	list, next, err := h.Notifications.List(ctx, c.Scope, from, listing.PageSize)
	if err != nil {
		return err
	}
	shell := c.FillLayout(words.T(ctx, "notifications.title"), "notifications")
	c.MakeLive(&shell, "")
	props := dashboard.NotificationsProps{Page: shell, FirstHref: listPath}
	if from == 0 {
		props.Since, props.News = listing.CountNewRows(c, "notifications.news", list,
			func(n notification.Notification) int64 { return n.ID })
		props.Newest = props.Since
	}
	for _, n := range list {
		props.Rows = append(props.Rows, dashboard.NotificationRow{ID: strconv.FormatInt(n.ID, 10),
			Kind: notice.KindName(ctx, n.Kind), Title: notice.Title(ctx, n), Parts: notice.Parts(ctx, n),
			At: n.At.In(zone), Read: n.Read})
	}
	props.Pager = listing.MakePager(words.N(ctx, "notifications.counted", len(list)), from > 0, listPath, next > 0,
		listPath+"?before="+strconv.FormatInt(next, 10))
	return c.Render(dashboard.Notifications(props))
}

// openNotification marks a notification as read and leads to its record. It isn't read yet where no person has opened
// it.
func (h *Handlers) openNotification(c *page.Ctx) error {
	id, err := page.ReadID(c, "notification")
	if err != nil {
		return err
	}
	n, err := h.Notifications.Find(c.UserContext(), c.Scope, id)
	if err != nil {
		return err
	}
	if c.Method() != http.MethodHead && !isPrefetch(c) {
		if err := h.Notifications.MarkRead(c.UserContext(), c.Scope, id); err != nil {
			return err
		}
	}
	return c.Redirect(notice.Path(n))
}

// isPrefetch reports a request by which a browser loads a page that no person has opened yet.
func isPrefetch(c *page.Ctx) bool {
	return strings.HasPrefix(c.Get("Sec-Purpose"), "prefetch") || c.Get("Purpose") == "prefetch" ||
		c.Get("X-Moz") == "prefetch"
}

// markRead marks one notification as read.
func (h *Handlers) markRead(c *page.Ctx) error {
	id, err := page.ReadID(c, "notification")
	if err != nil {
		return err
	}
	if err := h.Notifications.MarkRead(c.UserContext(), c.Scope, id); err != nil {
		return err
	}
	return c.Redirect(page.ReturnPath(c, listPath))
}

// markAllRead marks all notifications as read up to the newest that the page showed.
func (h *Handlers) markAllRead(c *page.Ctx) error {
	to, _ := strconv.ParseInt(c.FormText("to"), 10, 64) // 0 marks none
	if err := h.Notifications.MarkAllRead(c.UserContext(), c.Scope, to); err != nil {
		return err
	}
	c.SetFlash(string(ui.Good), words.T(c.UserContext(), "notifications.marked"))
	return c.Redirect(listPath)
}

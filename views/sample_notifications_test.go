package views_test

import (
	"context"
	"strings"
	"time"

	"github.com/a-h/templ"

	"cointill/core/account/auth"
	"cointill/core/notification"
	"cointill/core/notification/email"
	"cointill/core/scope"
	"cointill/views/dashboard"
	"cointill/views/mail"
	facts "cointill/views/notice"
	"cointill/views/ui"
)

// told are notifications of every kind.
func told() (list []notification.Notification) {
	long := strings.Repeat("Ọláyínká & Sons ", 5)
	for i, n := range []notification.Notification{
		{Kind: notification.Paid, Subject: "PAY_9hQ2mVx4Lr7TzKc1Bn3W", Detail: notification.Detail{Amount: "0.00021436 BTC", Value: "₦25,000.00"},
			Payer: notification.Payer{Customer: "Chidi Nwosu", Purpose: "order-1047"}},
		{Kind: notification.Declined, Subject: "PAY_c7LmZ1oDf9UeAq64GyTw", Detail: notification.Detail{Amount: "8.000000 XRP", Value: "GH₵ 310.00", Reason: "underpaid"},
			Payer: notification.Payer{Customer: long, Purpose: "cart:77ab-9031-long-reference-of-a-shop"}},
		{Kind: notification.Unmatched, Subject: "7", Times: 1, Detail: notification.Detail{Amount: "31.250002 XRP", Reason: "missing_tag"}},
		{Kind: notification.Unmatched, Subject: "8", Times: 12, Detail: notification.Detail{Amount: "0.00000546 BTC", Reason: "after_final"}},
		{Kind: notification.RefundClaimed, Subject: "SND_9hQ2mVx4Lr7TzKc1Bn3W", Detail: notification.Detail{Amount: "0.00021436 BTC"},
			Payer: notification.Payer{Customer: "ليلى حداد", Purpose: "Saturday workshop"}},
		{Kind: notification.EndpointFailing, Subject: "whk_1", Detail: notification.Detail{Name: "Shop server", Reason: notification.ReasonFailing}},
		{Kind: notification.EndpointFailing, Subject: "whk_1", Detail: notification.Detail{Name: "<b>Old</b> server", Reason: notification.ReasonSwitchedOff}},
		{Kind: notification.CoinUnavailable, Subject: "ethereum", Detail: notification.Detail{Name: "ethereum-mainnet", Text: "All nodes are silent."}},
	} {
		n.ID, n.At, n.Read = int64(8-i), now.Add(-time.Duration(i)*time.Hour), i > 3
		list = append(list, n)
	}
	return list
}

// notificationPages are the list of notifications, the choice of mails, and the mails.
func notificationPages() map[string]templ.Component {
	page := shell("Notifications", "notifications")
	page.Unread, page.UserEmail = 4, "ada@example.com"
	many := shell("Notifications", "notifications")
	many.Unread = 100
	props := dashboard.NotificationsProps{Page: page, Newest: "8", FirstHref: "/dashboard/notifications", Since: "8", News: "2 new notifications – show",
		Pager: ui.PagerProps{Shown: "8 notifications", Next: "/dashboard/notifications?before=1"}}
	choices := dashboard.NotificationChoicesProps{Page: page, Limit: "10", Zone: "Africa/Lagos",
		Form: ui.Form{Values: map[string]string{"paid": "off", "declined": "instant", "unmatched": "daily"}}}
	for _, n := range told() {
		props.Rows = append(props.Rows, dashboard.NotificationRow{ID: "7", Kind: facts.KindName(context.Background(), n.Kind), Title: facts.Title(context.Background(), n),
			Parts: facts.Parts(context.Background(), n), At: n.At, Read: n.Read})
	}
	for _, kind := range notification.Kinds() {
		choices.Choices = append(choices.Choices, dashboard.ChannelChoice{Kind: string(kind), Name: facts.KindName(context.Background(), kind)})
	}
	browsers := dashboard.BrowsersProps{Page: page, Limit: "30", Choices: choices.Choices,
		Form: ui.Form{Values: map[string]string{"paid": "instant", "declined": "off"}},
		Rows: []dashboard.BrowserRow{
			{ID: "2", Name: "Chrome on Android", Service: "fcm.googleapis.com", Amounts: true, Here: true, Since: now},
			{ID: "1", Name: "Firefox on Windows", Service: "updates.push.services.mozilla.com", Since: now.Add(-3 * time.Hour)}}}
	none := browsers
	none.Rows = nil
	refused := choices
	refused.Form.Errors = map[string][]string{"declined": {"Choose one of those that are offered."}}
	letter := email.Letter{Kind: email.Single, To: auth.User{Name: "Ada", Email: "ada@example.com"}, Business: "Sunbird Coffee", Domain: scope.Live,
		Notifications: told()[1:2], Count: 1, Zone: time.UTC, URL: "https://pay.example/dashboard/notifications/7", SettingsURL: "https://pay.example/dashboard/notifications/settings"}
	day, held := letter, letter
	day.Kind, day.Notifications, day.Count, day.Domain = email.Day, told(), 31, scope.Test
	held.Kind, held.Notifications, held.Count = email.Held, told(), 9
	return map[string]templ.Component{
		"notifications": dashboard.Notifications(props), "notifications-empty": dashboard.Notifications(dashboard.NotificationsProps{Page: many, FirstHref: "/dashboard/notifications"}),
		"notifications-browsers": dashboard.Browsers(browsers), "notifications-browsers-none": dashboard.Browsers(none),
		"notifications-choices": dashboard.NotificationChoices(choices), "notifications-choices-refused": dashboard.NotificationChoices(refused),
		"mail-notification": mail.Notice(mail.Notification(letter)), "mail-notifications-day": mail.Notice(mail.Notification(day)),
		"mail-notifications-held": mail.Notice(mail.Notification(held)),
	}
}

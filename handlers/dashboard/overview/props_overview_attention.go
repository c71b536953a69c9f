package overview

import (
	"context"
	"strings"

	"cointill/core/money"
	"cointill/core/payment/list"
	"cointill/core/scope"
	"cointill/core/webhook"
	"cointill/handlers/dashboard/display"
	"cointill/handlers/dashboard/listing"
	"cointill/views/dashboard"
	"cointill/views/ui"
	"cointill/views/words"
)

// listAttention lists what needs a person.
func listAttention(ctx context.Context, f overviewFacts) (items []dashboard.Attention) {
	add := func(tone ui.Tone, title, text, href string) {
		items = append(items, dashboard.Attention{Tone: tone, Title: title, Text: text, Href: href})
	}
	said := map[string]bool{}
	for _, coin := range money.Coins() {
		if why := f.Unhealthy[coin.Coin]; why != "" && !said[why] {
			said[why] = true
			add(ui.Bad, words.T(ctx, "overview.chain_unpaid", "Coins", joinUnhealthy(ctx, f.Unhealthy, why)), why,
				"/dashboard/methods")
		}
	}
	for _, coin := range money.Coins() {
		if why := f.Unpriced[coin.Coin]; why != "" {
			add(ui.Bad, words.T(ctx, "overview.no_price", "Coin", coin.Name), why, display.RatesPath)
		}
	}
	if n := f.Waiting.Reversed; n > 0 {
		add(ui.Bad, formatCount(ctx, n, "overview.reversed"), words.T(ctx, "overview.reversed_text"),
			listing.Search{Need: list.NeedLook}.Href())
	}
	if n := f.Waiting.Decisions; n > 0 {
		add(ui.Warn, formatCount(ctx, n, "overview.declined"), words.T(ctx, "overview.declined_text"),
			listing.Search{Need: list.NeedDecision}.Href())
	}
	if n := f.Waiting.Unmatched; n > 0 {
		add(ui.Warn, formatCount(ctx, n, "overview.unmatched"), words.T(ctx, "overview.unmatched_text"),
			display.UnmatchedPath)
	}
	if n := int(f.ToApprove); n > 0 {
		add(ui.Warn, words.N(ctx, "overview.to_approve", n), words.T(ctx, "overview.to_approve_text"),
			display.SendsPath+"?show=approve")
	}
	var failing []webhook.Endpoint
	for _, e := range f.Endpoints {
		switch {
		case e.OffReason != "":
			add(ui.Bad, words.T(ctx, "overview.webhook_off", "Name", e.Name),
				words.Problem(ctx, e.OffCode, e.OffReason), display.WebhookPath(e.ID))
		case e.Active && e.FailingSince != nil:
			failing = append(failing, e)
		}
	}
	if n := len(failing); n > 1 {
		add(ui.Warn, words.N(ctx, "overview.webhooks_fail", n),
			words.T(ctx, "overview.webhooks_fail_text", "Names", joinFailing(ctx, failing)), display.WebhooksPath)
	} else if n == 1 {
		e := failing[0]
		text := words.T(ctx, "overview.webhook_fails_text", "Since", ui.TimeText(ctx, e.FailingSince.In(f.Zone)))
		href := display.WebhookPath(e.ID)
		if failed, found := f.Failed[e.ID]; found {
			why, _ := display.DeliveryResult(ctx, failed)
			text = words.T(ctx, "overview.webhook_fails_why", "Since", text, "Why", why)
			href = display.DeliveryPath(e.ID, failed.EventID)
		}
		add(ui.Warn, words.T(ctx, "overview.webhook_fails", "Name", e.Name), text, href)
	}
	return items
}

// failingNamed is how many endpoints that fail are named; the others are counted.
const failingNamed = 3

// joinFailing names the first endpoints that fail, and counts the others.
func joinFailing(ctx context.Context, failing []webhook.Endpoint) string {
	var names []string
	for _, e := range failing[:min(failingNamed, len(failing))] {
		names = append(names, e.Name)
	}
	joined := strings.Join(names, ", ")
	if more := len(failing) - len(names); more > 0 {
		return words.N(ctx, "overview.webhooks_more", more, "Names", joined)
	}
	return joined
}

// joinUnhealthy names the coins that can't be paid for one reason, as people call them.
func joinUnhealthy(ctx context.Context, unhealthy map[money.Coin]string, why string) (names string) {
	for _, coin := range money.Coins() {
		switch {
		case unhealthy[coin.Coin] != why:
		case names == "":
			names = coin.Name
		default:
			names = words.T(ctx, "overview.coins_and", "Coins", names, "Coin", coin.Name)
		}
	}
	return names
}

// formatCount writes how much waits, which core counts no further than it matters.
func formatCount(ctx context.Context, n int64, id string) string {
	if n > list.CountedTo {
		return words.T(ctx, "overview.more_than", "Counted",
			words.N(ctx, id, list.CountedTo, "N", words.FormatThousands(ctx, list.CountedTo)))
	}
	return words.N(ctx, id, int(n))
}

// listSteps leads a new business to its first paid test, and to its own money.
// Steps that the role may not take are left out, and all of it once all is done.
func listSteps(ctx context.Context, f overviewFacts) (steps []dashboard.CheckStep) {
	open := false
	add := func(action scope.Action, step dashboard.CheckStep) {
		if f.Scope.Allows(action) {
			steps, open = append(steps, step), open || !step.Done
		}
	}
	if f.Scope.Domain == scope.Test {
		add(scope.ManageKeys, dashboard.CheckStep{Done: f.SetUp.Keys > 0,
			Title: words.T(ctx, "overview.make_a_test_key"),
			Text:  words.T(ctx, "overview.make_a_test_key_text"), Action: "/dashboard/keys",
			ActionText: words.T(ctx, "overview.make_a_key")})
		add(scope.ManageLinks, dashboard.CheckStep{Done: f.SetUp.Started,
			Title: words.T(ctx, "overview.start_a_test_payment"),
			Text:  words.T(ctx, "overview.start_a_test_payment_text"), Action: "/dashboard/links/new",
			ActionText: words.T(ctx, "overview.new_payment_link")})
		add(scope.SeePayments, dashboard.CheckStep{Done: f.SetUp.Paid,
			Title: words.T(ctx, "overview.pay_it_in_sandbox"),
			Text:  words.T(ctx, "overview.pay_it_in_sandbox_text"), Action: listing.PaymentsPath,
			ActionText: words.T(ctx, "overview.transactions")})
		add(scope.ManageWebhooks, dashboard.CheckStep{Done: len(f.Endpoints) > 0,
			Title: words.T(ctx, "overview.let_your_server_hear"),
			Text:  words.T(ctx, "overview.let_your_server_hear_text"), Action: "/dashboard/webhooks/new",
			ActionText: words.T(ctx, "overview.add_an_endpoint")})
	}
	if f.SetUp.CanReceive {
		add(scope.SetReceiving, dashboard.CheckStep{Done: f.SetUp.Receives,
			Title: words.T(ctx, "overview.receive_into_your_own"),
			Text:  words.T(ctx, "overview.receive_into_your_own_text"), Action: "/dashboard/methods",
			ActionText: words.T(ctx, "overview.payment_methods")})
	}
	if !open {
		return nil
	}
	return steps
}

// Package layout holds the shells around the pages: the dashboard, the sign-in
// pages, the customer's pages, and the page for errors.
package layout

import (
	"context"
	"slices"

	"cointill/views/words"
)

// Flash is one sentence about what just happened. Kind is good, bad, warn or
// info.
type Flash struct{ Kind, Text string }

// Page is what the shell of the dashboard needs; every dashboard page carries
// one in its props.
type Page struct {
	Title string
	// Nav is the key of the current item of the menu: overview, payments, customers,
	// sends, links, methods, rates, webhooks, keys, team, unmatched, mailbox, docs,
	// system or account.
	Nav                               string
	UserName, UserEmail, BusinessName string
	// Domain is test or live; LiveAvailable says whether live can be chosen.
	Domain        string
	LiveAvailable bool
	// Operator shows the operator's page in the menu.
	Operator bool
	// Offers reports whether who looks at it may open the page of a route; nil
	// offers them all.
	Offers func(path string) bool
	// CSRF is the token that every form carries; Once is what tells this showing
	// of a form from the others.
	CSRF, Once string
	Flash      Flash
	// NextPath is where a switch of the domain comes back to.
	NextPath string
	// Refresh makes browsers without JavaScript load the page again, in seconds;
	// 0 never does.
	Refresh int
}

// Test says whether the page shows test data.
func (p Page) Test() bool { return p.Domain != "live" }

// navItem is a line of the menu; word is the message that names it.
type navItem struct{ key, href, icon, word string }

// navGroup is a part of the menu; title is the message above it, empty for none.
type navGroup struct {
	title string
	items []navItem
}

// nav is the menu. Pages that don't exist yet are not in it.
var nav = []navGroup{
	{"", []navItem{
		{"overview", "/dashboard", "overview", "layout.overview"},
		{"payments", "/dashboard/payments", "payments", "layout.transactions"},
		{"sends", "/dashboard/sends", "send", "layout.sends"},
		{"customers", "/dashboard/customers", "user", "layout.customers"},
		{"links", "/dashboard/links", "links", "layout.payment_links"},
		{"statements", "/dashboard/statements", "statements", "layout.statements"},
	}},
	{"layout.set_up", []navItem{
		{"methods", "/dashboard/methods", "methods", "layout.payment_methods"},
		{"rates", "/dashboard/rates", "rates", "layout.rates"},
		{"webhooks", "/dashboard/webhooks", "webhooks", "layout.webhooks"},
		{"keys", "/dashboard/keys", "keys", "layout.api_keys"},
		{"team", "/dashboard/team", "team", "layout.team"},
		{"settings", "/dashboard/settings", "settings", "layout.settings"},
	}},
	{"layout.look_into", []navItem{
		{"unmatched", "/dashboard/unmatched", "unmatched", "layout.unmatched"},
		{"mailbox", "/dashboard/mailbox", "mailbox", "layout.mailbox"},
		{"audit", "/dashboard/audit", "audit", "layout.audit_log"},
		{"docs", "/docs", "docs", "layout.api_reference"},
	}},
}

// May reports whether a link to the page of a route leads anywhere for who
// looks at it.
func (p Page) May(path string) bool { return p.Offers == nil || p.Offers(path) }

// groups is the menu for who looks at it.
func (p Page) groups() (groups []navGroup) {
	for _, group := range nav {
		items := slices.DeleteFunc(slices.Clone(group.items), func(item navItem) bool { return !p.May(item.href) })
		if len(items) > 0 {
			groups = append(groups, navGroup{group.title, items})
		}
	}
	if p.Operator {
		groups = append(groups, navGroup{"layout.this_server",
			[]navItem{{"system", "/dashboard/system", "system", "layout.system"}}})
	}
	return groups
}

// ErrorProps describes what went wrong to a person.
type ErrorProps struct {
	Status int
	// Title, What happened and what to Do are sentences.
	Title, What, Do string
	RequestID       string
	// HomeHref and HomeText are the way on; empty shows none.
	HomeHref, HomeText string
}

// Worded says what happened in the words of the page, by the status, and a way
// on; a status that it doesn't know keeps the title that it came with.
func (p ErrorProps) Worded(ctx context.Context) ErrorProps {
	switch p.Status {
	case 404:
		p.Title, p.Do = words.T(ctx, "layout.not_found"), words.T(ctx, "layout.not_found_do")
	case 403:
		p.Title, p.Do = words.T(ctx, "layout.not_allowed"), words.T(ctx, "layout.not_allowed_do")
	case 410:
		p.Title = words.T(ctx, "layout.no_longer_there")
	case 429, 503:
		p.Title = words.T(ctx, "layout.not_right_now")
	case 500:
		p.Title = words.T(ctx, "layout.something_went_wrong")
	}
	switch {
	case p.Status == 413 && p.HomeHref != "":
		p.Title, p.HomeText = words.T(ctx, "layout.too_much"), words.T(ctx, "layout.back_to_the_form")
	case p.HomeHref != "":
		p.HomeText = words.T(ctx, "layout.go_to_the_overview")
	}
	return p
}

// CustomerProps is what the shell of the customer's pages needs.
type CustomerProps struct {
	// Lang is the language of the page, and Skip the text of its skip link.
	Lang, Title, Skip string
	// Refresh makes browsers without JavaScript load RefreshTo, in seconds; 0
	// never does.
	Refresh   int
	RefreshTo string
	// Stream loads the library for the live status.
	Stream bool
	// Test puts the band above the page; TestText is its text.
	Test     bool
	TestText string
	// ThemeText names the switch between light and dark.
	ThemeText string
}

// Package layout holds the shells around the pages: the dashboard, the sign-in
// pages, the customer's pages, and the page for errors.
package layout

// Flash is one sentence about what just happened. Kind is good, bad, warn or
// info.
type Flash struct{ Kind, Text string }

// Page is what the shell of the dashboard needs; every dashboard page carries
// one in its props.
type Page struct {
	Title string
	// Nav is the key of the current item of the menu: overview, payments,
	// links, methods, rates, webhooks, keys, unmatched, mailbox or docs.
	Nav                               string
	UserName, UserEmail, BusinessName string
	// Domain is test or live; LiveAvailable says whether live can be chosen.
	Domain        string
	LiveAvailable bool
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

type navItem struct{ key, href, icon, text string }

type navGroup struct {
	title string
	items []navItem
}

// nav is the menu. Pages that don't exist yet are not in it.
var nav = []navGroup{
	{"", []navItem{
		{"overview", "/dashboard", "overview", "Overview"},
		{"payments", "/dashboard/payments", "payments", "Transactions"},
		{"links", "/dashboard/links", "links", "Payment links"},
	}},
	{"Set up", []navItem{
		{"methods", "/dashboard/methods", "methods", "Payment methods"},
		{"rates", "/dashboard/rates", "rates", "Rates"},
		{"webhooks", "/dashboard/webhooks", "webhooks", "Webhooks"},
		{"keys", "/dashboard/keys", "keys", "API keys"},
	}},
	{"Look into", []navItem{
		{"unmatched", "/dashboard/unmatched", "unmatched", "Unmatched"},
		{"mailbox", "/dashboard/mailbox", "mailbox", "Mailbox"},
		{"docs", "/docs", "docs", "API reference"},
	}},
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
	// Test puts the band above the page; TestText is what it says.
	Test     bool
	TestText string
	// ThemeText names the switch between light and dark.
	ThemeText string
}

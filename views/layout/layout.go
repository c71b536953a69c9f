// Package layout holds the shells around the pages: the dashboard, the sign-in
// pages, the customer's pages, and the page for errors.
package layout

import (
	"context"

	"cointill/views/words"
)

// Flash is one sentence about what just happened. Kind is good, bad, warn or
// info, and Text is in the reader's language.
type Flash struct{ Kind, Text string }

// Page is what the shell of the dashboard needs; every dashboard page carries
// one in its props.
type Page struct {
	Title string
	// Nav is the key of the current page of the menu, as nav.go lists them; or account or notifications.
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
	// Scope names the business and the domain that the page shows: a page is updated only by one of the same.
	Scope string
	// Unread is how many notifications the member has not read; MaxUnread stands for that many and more.
	Unread int
	// Live is the stream of changes of the page; empty where nothing does.
	Live string
	// Refresh makes browsers without JavaScript load the page again, in seconds;
	// 0 never does.
	Refresh int
}

// MaxUnread is from where on unread notifications are not counted.
const MaxUnread = 100

// Test says whether the page shows test data.
func (p Page) Test() bool { return p.Domain != "live" }

// May reports whether a link to the page of a route leads anywhere for who
// looks at it.
func (p Page) May(path string) bool { return p.Offers == nil || p.Offers(path) }

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
	case 413:
		p.Title = words.T(ctx, "layout.too_large")
	case 429, 503:
		p.Title = words.T(ctx, "layout.not_right_now")
	case 500:
		p.Title = words.T(ctx, "layout.something_went_wrong")
	}
	switch {
	case p.Status == 413 && p.HomeHref != "":
		p.HomeText = words.T(ctx, "layout.back_to_the_form")
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
	// Test puts the band above the page, with TestLabel and TestText.
	Test                bool
	TestLabel, TestText string
	// ThemeText names the switch between light and dark.
	ThemeText string
}

package layout

import "slices"

// navPage is a page that the menu leads to; word is the message that names it.
type navPage struct{ key, href, icon, word string }

// navArea is an entry of the menu. Its pages are tabs of one another.
type navArea struct {
	// word and icon stand for the area where its reader may open several of its pages.
	word, icon string
	pages      []navPage
}

// navGroup is a part of the menu; title is the message above it, empty for none.
type navGroup struct {
	title string
	areas []navArea
}

// MaxAreas is how many entries the menu has at most, for any role.
const MaxAreas = 9

// nav is the menu.
var nav = []navGroup{
	{"", []navArea{
		{pages: []navPage{{"overview", "/dashboard", "overview", "layout.overview"}}},
		{"layout.transactions", "payments", []navPage{
			{"payments", "/dashboard/payments", "payments", "layout.transactions"},
			{"unmatched", "/dashboard/unmatched", "unmatched", "layout.unmatched"},
		}},
		{"layout.customers", "user", []navPage{
			{"customers", "/dashboard/customers", "user", "layout.customers"},
			{"mailbox", "/dashboard/mailbox", "mailbox", "layout.mailbox"},
		}},
		{"layout.payment_links", "links", []navPage{
			{"links", "/dashboard/links", "links", "layout.payment_links"},
			{"till", "/dashboard/till/settings", "methods", "layout.till"},
		}},
		{pages: []navPage{{"sends", "/dashboard/sends", "send", "layout.sends"}}},
		{pages: []navPage{{"statements", "/dashboard/statements", "statements", "layout.statements"}}},
	}},
	{"layout.set_up", []navArea{
		{"layout.payment_methods", "methods", []navPage{
			{"methods", "/dashboard/methods", "methods", "layout.payment_methods"},
			{"rates", "/dashboard/rates", "rates", "layout.rates"},
			{"golive", "/dashboard/going-live", "check", "layout.going_live"},
		}},
		{"layout.developers", "keys", []navPage{
			{"webhooks", "/dashboard/webhooks", "webhooks", "layout.webhooks"},
			{"keys", "/dashboard/keys", "keys", "layout.api_keys"},
			{"docs", "/docs", "docs", "layout.api_reference"},
		}},
		{"layout.settings", "settings", []navPage{
			{"settings", "/dashboard/settings", "settings", "layout.settings"},
			{"team", "/dashboard/team", "team", "layout.team"},
			{"audit", "/dashboard/audit", "audit", "layout.audit_log"},
			{"system", "/dashboard/system", "system", "layout.system"},
		}},
	}},
}

// listGroups returns the menu for the reader: areas with a page that they may open.
func (p Page) listGroups() (groups []navGroup) {
	for _, group := range nav {
		shown := navGroup{title: group.title}
		for _, area := range group.areas {
			area.pages = slices.DeleteFunc(slices.Clone(area.pages), func(page navPage) bool { return !p.mayOpen(page) })
			if len(area.pages) > 0 {
				shown.areas = append(shown.areas, area)
			}
		}
		if len(shown.areas) > 0 {
			groups = append(groups, shown)
		}
	}
	return groups
}

// mayOpen reports whether the reader may open a page of the menu.
func (p Page) mayOpen(page navPage) bool {
	return p.May(page.href) && (page.key != "system" || p.Operator)
}

// listPages lists the pages of the menu that the reader may open.
func (p Page) listPages() (list []navPage) {
	for _, group := range p.listGroups() {
		for _, area := range group.areas {
			list = append(list, area.pages...)
		}
	}
	return list
}

// listTabs lists the pages of the area that the page is in; none where it is alone.
func (p Page) listTabs() []navPage {
	for _, group := range p.listGroups() {
		for _, area := range group.areas {
			if area.hasPage(p.Nav) && len(area.pages) > 1 {
				return area.pages
			}
		}
	}
	return nil
}

// hasPage reports whether a page is in the area.
func (a navArea) hasPage(key string) bool {
	return slices.ContainsFunc(a.pages, func(page navPage) bool { return page.key == key })
}

// menuEntry returns the area's link in the menu: it leads to the first page.
func (a navArea) menuEntry() navPage {
	first := a.pages[0]
	if len(a.pages) > 1 {
		first.word, first.icon = a.word, a.icon
	}
	return first
}

// markCurrent returns the entry's aria-current: "page" for the page itself, "true" for another tab of its area.
func (a navArea) markCurrent(key string) string {
	if a.menuEntry().key == key {
		return "page"
	}
	return "true"
}

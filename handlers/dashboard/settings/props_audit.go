package settings

import (
	"context"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/handlers/dashboard/listing"
	"cointill/handlers/page"
	"cointill/models"
	"cointill/views/dashboard"
	"cointill/views/layout"
	"cointill/views/ui"
	"cointill/views/words"
)

// auditSearch is what the audit log was asked for, as its address says it.
type auditSearch struct {
	Who      string // an actor
	What     string // one of auditAreas
	Subject  string
	From, To string // days, both included
	Before   int64  // the place where the page begins
	Wrong    []string
}

// person is a choice of the filter by actor.
type person struct{ Actor, Name string }

// auditAreas are the choices of the filter by action: actions, or areas that end with a dot.
var auditAreas = []struct {
	value, word string
	actions     []string
}{
	{"refused", "audit.area_refused", nil},
	{"sign_in", "audit.area_sign_in", []string{"user.signed_in", "user.sign_in_refused", "user.code_refused",
		"user.recovery_code_used", "user.session_ended", "user.sessions_ended"}},
	{"accounts", "audit.area_accounts", []string{"user."}},
	{"team", "audit.area_team", []string{"member.", "invitation."}},
	{"money", "audit.area_money", []string{"wallet.", "method.", "rates."}},
	{"payments", "audit.area_payments", []string{"payment.", "unmatched.", "refund."}},
	{"sends", "audit.area_sends", []string{"send."}},
	{"links", "audit.area_links", []string{"link."}},
	{"webhooks", "audit.area_webhooks", []string{"webhook."}},
	{"keys", "audit.area_keys", []string{"key."}},
	{"settings", "audit.area_settings", []string{"settings.", "business."}},
}

var actors = regexp.MustCompile(`^((user|key):[0-9]{1,18}|system|operator)$`)

// readAuditSearch reads a search from an address. Unreadable parts are left out and named.
func readAuditSearch(ctx context.Context, values url.Values) auditSearch {
	var read listing.Search // for its messages about unreadable values
	s := auditSearch{Subject: page.CleanText(values.Get("subject"))}
	s.Who = read.ReadOne(ctx, values, "who", "filters.nobody", actors.MatchString)
	s.What = read.ReadOne(ctx, values, "what", "filters.no_act", func(v string) bool {
		for _, area := range auditAreas {
			if area.value == v {
				return true
			}
		}
		return false
	})
	s.From, s.To = read.ReadDay(ctx, values, "from"), read.ReadDay(ctx, values, "to")
	if s.From != "" && s.To != "" && s.From > s.To {
		read.ReportUnreadable(ctx, "filters.days_reversed", words.T(ctx, "filters.from_to", "From", s.From, "To", s.To))
		s.From, s.To = "", ""
	}
	read.ReadOne(ctx, values, "before", "filters.no_page_begins", func(v string) bool {
		n, err := strconv.ParseInt(v, 10, 64)
		s.Before = max(n, 0)
		return err == nil && n > 0
	})
	s.Wrong = read.Wrong
	return s
}

// toFilter returns the search as core takes it.
func (s auditSearch) toFilter(zone *time.Location) audit.Filter {
	f := audit.Filter{Actor: s.Who, Subject: s.Subject, Refused: s.What == "refused", Before: s.Before}
	for _, area := range auditAreas {
		if area.value == s.What {
			f.Actions = area.actions
		}
	}
	if s.From != "" {
		f.From = clock.FindDayStart(s.From, zone, 0)
	}
	if s.To != "" {
		f.To = clock.FindDayStart(s.To, zone, 1)
	}
	return f
}

// firstPage returns the search from its first page on.
func (s auditSearch) firstPage() auditSearch { s.Before = 0; return s }

// pathWith returns the address of a page about this search.
func (s auditSearch) pathWith(path string) string {
	return listing.MakeHref(path, map[string]string{"who": s.Who, "what": s.What, "subject": s.Subject,
		"from": s.From, "to": s.To, "before": listing.FormatBound(s.Before)})
}

// listChips lists the active filters that the form doesn't show by itself.
func (s auditSearch) listChips(ctx context.Context, people []person) (list []dashboard.Chip) {
	add := func(text string, without auditSearch) {
		list = append(list, dashboard.Chip{Text: text, RemoveHref: without.firstPage().pathWith(auditPath)})
	}
	if without := s; s.Who != "" {
		without.Who = ""
		add(words.T(ctx, "audit.chip_by", "Who", actorName(ctx, s.Who, people)), without)
	}
	if without := s; s.What != "" {
		without.What = ""
		for _, area := range auditAreas {
			if area.value == s.What {
				add(words.T(ctx, area.word), without)
			}
		}
	}
	if without := s; s.Subject != "" {
		without.Subject = ""
		add(words.T(ctx, "audit.chip_about", "Subject", s.Subject), without)
	}
	if without := s; s.From+s.To != "" {
		without.From, without.To = "", ""
		add(words.T(ctx, "audit.chip_days", "Days", listing.Search{From: s.From, To: s.To}.DescribeDays(ctx)), without)
	}
	return list
}

func actorName(ctx context.Context, actor string, people []person) string {
	for _, p := range people {
		if p.Actor == actor {
			return p.Name
		}
	}
	return whoText(ctx, audit.Entry{Audit: models.Audit{Actor: actor}})
}

// auditFacts are what the page of the audit log shows.
type auditFacts struct {
	List    []audit.Entry
	Next    int64
	Verdict audit.Verdict
	People  []person
	Zone    *time.Location
}

// auditProps is the page of the audit log.
func auditProps(ctx context.Context, shell layout.Page, s auditSearch, f auditFacts) dashboard.AuditProps {
	props := dashboard.AuditProps{Page: shell, Who: s.Who, What: s.What, Subject: s.Subject, From: s.From, To: s.To,
		Zone:  f.Zone.String(),
		Chips: s.listChips(ctx, f.People), Wrong: s.Wrong, CSVHref: s.firstPage().pathWith(auditPath + ".csv"),
		ClearHref: auditPath, Chain: chainProps(ctx, s, f)}
	for _, p := range f.People {
		props.People = append(props.People, ui.Option{Value: p.Actor, Label: p.Name})
	}
	props.People = append(props.People, ui.Option{Value: "system", Label: words.T(ctx, "audit.cointill_itself")},
		ui.Option{Value: "operator", Label: words.T(ctx, "audit.the_operator")})
	for _, area := range auditAreas {
		props.Areas = append(props.Areas, ui.Option{Value: area.value, Label: words.T(ctx, area.word)})
	}
	for _, e := range f.List {
		props.Rows = append(props.Rows, auditRow(ctx, e, s, f.Zone))
	}
	next := s
	next.Before = f.Next
	props.Pager = listing.MakePager(words.N(ctx, "audit.rows", len(props.Rows)), s.Before > 0,
		s.firstPage().pathWith(auditPath), f.Next > 0, next.pathWith(auditPath))
	return props
}

// chainProps says whether the chain holds.
func chainProps(ctx context.Context, s auditSearch, f auditFacts) dashboard.ChainProps {
	v := f.Verdict
	chain := dashboard.ChainProps{Broken: v.Broken, Rows: words.FormatThousands(ctx, v.Rows),
		Whole: v.Checked >= v.Rows, Checked: words.FormatThousands(ctx, v.Checked), Empty: v.Rows == 0}
	if v.SealedAt != nil {
		chain.SealedAt, chain.SealedTo = v.SealedAt.In(f.Zone), words.FormatThousands(ctx, v.SealedTo)
	}
	if !chain.Whole && v.Broken == "" {
		chain.AllHref = s.pathWith(auditPath) + map[bool]string{true: "?", false: "&"}[s.pathWith(auditPath) == auditPath] +
			"check=all"
	}
	return chain
}

func auditRow(ctx context.Context, e audit.Entry, s auditSearch, zone *time.Location) dashboard.AuditRow {
	row := dashboard.AuditRow{Place: strconv.FormatInt(e.Place, 10), At: e.CreatedAt.In(zone), Who: whoText(ctx, e),
		Email: e.Email, What: actionText(ctx, e.Action), Refused: e.Refused,
		Subject: subjectText(e), IP: e.IP, Agent: e.Agent, Request: e.Request, Hash: e.Hash,
		Changes: listChanges(ctx, e.Detail)}
	if e.Agent != "" {
		row.Browser = ui.BrowserName(ctx, e.Agent)
	}
	if area, _, _ := strings.Cut(e.Action, "."); area != "user" && area != "member" && area != "invitation" &&
		area != "business" && area != "settings" {
		row.Domain = e.Domain // accounts, the team and settings belong to both
	}
	by, about := s.firstPage(), s.firstPage()
	by.Who, about.Subject = e.Actor, e.Subject
	row.WhoHref, row.SubjectHref = by.pathWith(auditPath), about.pathWith(auditPath)
	return row
}

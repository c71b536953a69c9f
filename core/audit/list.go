package audit

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"cointill/core/scope"
	"cointill/core/spreadsheet"
	"cointill/models"
)

// Filter chooses rows of the log; zero fields don't limit.
type Filter struct {
	Actor   string   // such as "user:12"
	Actions []string // whole ones, or areas that end with a dot, such as "key."
	Subject string
	Refused bool      // only refused acts
	From    time.Time // from this moment on
	To      time.Time // before this one
	Before  int64     // below this place: where a page begins
	Limit   int       // 1–100; 0 means 50
}

// Entry is a row of the log with whose act it was.
type Entry struct {
	models.Audit
	Name  string // of the person or key; empty for Cointill and the operator
	Email string // of a person
}

// ListEntries lists a page of the log, newest first, and where the next page begins; 0
// after the last. Faults: Forbidden.
func (s *Service) ListEntries(ctx context.Context, sc scope.Scope, f Filter) (list []Entry, next int64, err error) {
	if err := sc.CheckAction(scope.SeeAudit); err != nil {
		return nil, 0, err
	}
	if f.Limit < 1 || f.Limit > 100 {
		f.Limit = 50
	}
	rows, err := s.newestRows(ctx, sc, f, f.Limit+1)
	if err != nil {
		return nil, 0, err
	}
	if len(rows) > f.Limit {
		rows = rows[:f.Limit]
		next = rows[f.Limit-1].Place
	}
	list, err = s.nameActors(ctx, sc, rows, map[string]Entry{})
	return list, next, err
}

// newestRows returns the newest of a filter. The log belongs to the business: it holds
// the acts of both domains.
func (s *Service) newestRows(ctx context.Context, sc scope.Scope, f Filter, most int) (rows []models.Audit, err error) {
	query := s.DB.List(ctx).Where("business_id = ? AND place > 0", sc.BusinessID).Order("place DESC").Limit(most)
	if f.Before > 0 {
		query = query.Where("place < ?", f.Before)
	}
	if f.Actor != "" {
		query = query.Where("actor = ?", f.Actor)
	}
	if f.Subject != "" {
		query = query.Where("subject = ?", f.Subject)
	}
	if f.Refused {
		query = query.Where("refused")
	}
	if !f.From.IsZero() {
		query = query.Where("created_at >= ?", f.From)
	}
	if !f.To.IsZero() {
		query = query.Where("created_at < ?", f.To)
	}
	if len(f.Actions) > 0 {
		any := s.DB.List(ctx)
		for _, action := range f.Actions {
			if strings.HasSuffix(action, ".") {
				any = any.Or("action LIKE ?", action+"%")
			} else {
				any = any.Or("action = ?", action)
			}
		}
		query = query.Where(any)
	}
	return rows, query.Find(&rows).Error
}

// nameActors adds the actors' names to rows. known holds the names that were read before.
func (s *Service) nameActors(ctx context.Context, sc scope.Scope, rows []models.Audit, known map[string]Entry) ([]Entry,
	error) {
	var actors []string
	for _, row := range rows {
		if _, has := known[row.Actor]; !has {
			known[row.Actor] = Entry{}
			actors = append(actors, row.Actor)
		}
	}
	people, err := ReadUsers(s.DB.List(ctx), actors)
	keys, err2 := ReadKeyNames(s.DB.List(ctx), sc.BusinessID, actors)
	err = errors.Join(err, err2)
	for actor, u := range people {
		known[actor] = Entry{Name: u.Name, Email: u.Email}
	}
	for actor, name := range keys {
		known[actor] = Entry{Name: name}
	}
	list := make([]Entry, 0, len(rows))
	for _, row := range rows {
		who := known[row.Actor]
		who.Audit = row
		list = append(list, who)
	}
	return list, err
}

// ReadUsers returns the name and e-mail address of the users among actors, such as "user:12", by
// actor.
func ReadUsers(tx *models.Tx, actors []string) (map[string]models.User, error) {
	var rows []models.User
	err := tx.Select("id", "name", "email", "language").Where("id IN ?", listIDs(actors, "user:")).Find(&rows).Error
	users := make(map[string]models.User, len(rows))
	for _, u := range rows {
		users["user:"+strconv.FormatInt(u.ID, 10)] = u
	}
	return users, err
}

// ReadKeyNames returns the names of a business's API keys among actors, such as "key:3", by actor.
func ReadKeyNames(tx *models.Tx, businessID int64, actors []string) (map[string]string, error) {
	var rows []models.APIKey
	err := tx.Select("id", "name").Where("business_id = ? AND id IN ?", businessID, listIDs(actors, "key:")).
		Find(&rows).Error
	names := make(map[string]string, len(rows))
	for _, k := range rows {
		names["key:"+strconv.FormatInt(k.ID, 10)] = k.Name
	}
	return names, err
}

// listIDs lists the numbers of the actors with a prefix.
func listIDs(actors []string, prefix string) (ids []int64) {
	for _, actor := range actors {
		text, has := strings.CutPrefix(actor, prefix)
		if id, err := strconv.ParseInt(text, 10, 64); has && err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// Table is how an export is written: in whose time, as which kind of file, and
// with which words for an action.
type Table struct {
	Zone  *time.Location
	Words func(action string) string
	Begin func([]spreadsheet.Column) (spreadsheet.Writer, error)
}

// ExportEntries writes the rows of a filter as a table, newest first, a batch at a time.
// Faults: Forbidden.
func (s *Service) ExportEntries(ctx context.Context, sc scope.Scope, f Filter, t Table) error {
	if err := sc.CheckAction(scope.SeeAudit); err != nil {
		return err
	}
	out, err := t.Begin([]spreadsheet.Column{{Title: "Row", Kind: spreadsheet.Number},
		{Title: "Time (" + t.Zone.String() + ")", Kind: spreadsheet.Time}, {Title: "Who"}, {Title: "E-mail"},
		{Title: "What"}, {Title: "Action"}, {Title: "Refused"}, {Title: "Subject"}, {Title: "Domain"},
		{Title: "Details"}, {Title: "IP address"}, {Title: "Browser"},
		{Title: "Request"}, {Title: "Hash"}})
	if err != nil {
		return err
	}
	known := map[string]Entry{}
	for {
		rows, err := s.newestRows(ctx, sc, f, batch)
		if err != nil {
			return err
		}
		list, err := s.nameActors(ctx, sc, rows, known)
		if err != nil {
			return err
		}
		for _, e := range list {
			if err := out.Row(e.tableCells(t)); err != nil {
				return err
			}
		}
		if len(rows) < batch {
			return out.Close()
		}
		f.Before = rows[len(rows)-1].Place
	}
}

func (e Entry) tableCells(t Table) []spreadsheet.Cell {
	at, refused, who := e.CreatedAt.In(t.Zone), "", e.Name
	if e.Refused {
		refused = "yes"
	}
	if who == "" {
		who = e.Actor
	}
	detail := e.Detail
	if detail == "null" {
		detail = ""
	}
	return []spreadsheet.Cell{
		spreadsheet.TextCell(strconv.FormatInt(e.Place, 10)),
		spreadsheet.TimeCell(&at),
		spreadsheet.TextCell(who),
		spreadsheet.TextCell(e.Email),
		spreadsheet.TextCell(t.Words(e.Action)),
		spreadsheet.TextCell(e.Action),
		spreadsheet.TextCell(refused),
		spreadsheet.TextCell(e.Subject),
		spreadsheet.TextCell(e.Domain),
		spreadsheet.TextCell(detail),
		spreadsheet.TextCell(e.IP),
		spreadsheet.TextCell(e.Agent),
		spreadsheet.TextCell(e.Request),
		spreadsheet.TextCell(e.Hash),
	}
}

// FindActor finds whose acts a filter chooses, with their name; false for who never did
// anything in the scope's business. Faults: Forbidden.
func (s *Service) FindActor(ctx context.Context, sc scope.Scope, actor string) (Entry, bool, error) {
	list, _, err := s.ListEntries(ctx, sc, Filter{Actor: actor, Limit: 1})
	if err != nil || len(list) == 0 {
		return Entry{}, false, err
	}
	return list[0], true, nil
}

// ListBusinesses lists the businesses that have a log, by their id, with their codes.
func (s *Service) ListBusinesses(ctx context.Context) (list []models.Business, err error) {
	err = s.DB.Read(ctx).Select("businesses.id", "businesses.code", "businesses.name").
		Joins("JOIN audit_heads ON audit_heads.business_id = businesses.id").
		Order("businesses.id").Find(&list).Error
	return list, err
}

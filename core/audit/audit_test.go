package audit_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"cointill/core/audit"
	"cointill/core/clock"
	"cointill/core/fault"
	"cointill/core/scope"
	"cointill/core/secret"
	"cointill/core/spreadsheet"
	"cointill/models"
	"cointill/models/modelstest"
)

var owner = scope.Scope{BusinessID: 7, Domain: scope.Live, Actor: "user:1", Role: scope.Owner}

type bench struct {
	*audit.Service
	t     *testing.T
	clock *clock.Fake
}

func each(t *testing.T, test func(t *testing.T, b bench)) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		box, err := secret.NewBox(make([]byte, 32))
		must(t, err)
		now := clock.NewFake(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
		test(t, bench{&audit.Service{DB: db, Clock: now.Now, Secrets: box}, t, now})
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// append writes rows as a request from somewhere does.
func (b bench) append(sc scope.Scope, actions ...string) {
	b.t.Helper()
	ctx := scope.WithOrigin(b.t.Context(), scope.Origin{IP: "203.0.113.9", Agent: "Firefox\x00\xff" + strings.Repeat("x", 400), Request: "req_1"})
	for _, action := range actions {
		b.clock.Advance(time.Second)
		must(b.t, b.DB.Write(ctx, func(tx *models.Tx) error {
			return audit.AppendAct(tx, sc, b.Clock(), audit.Act{Action: action, Subject: "it", Detail: map[string]string{"before": "a", "after": "b"}, Refused: strings.HasSuffix(action, "_refused")})
		}))
	}
}

func (b bench) verdict(most int64) audit.Verdict {
	b.t.Helper()
	v, err := b.VerifyChain(b.t.Context(), owner.BusinessID, most)
	must(b.t, err)
	return v
}

func (b bench) exec(statement string) {
	b.t.Helper()
	must(b.t, b.DB.Exec(b.t.Context()).Exec(statement).Error)
}

// TestChainTells changes a log behind the program's back in every way, and each is found.
func TestChainTells(t *testing.T) {
	ways := map[string]struct{ statement, found string }{
		"a changed detail":    {`UPDATE audits SET detail = '{}' WHERE place = 3`, "Row 3 was changed"},
		"a changed time":      {`UPDATE audits SET created_at = '2026-02-01 12:00:00+00:00' WHERE place = 2`, "Row 2 was changed"},
		"a changed address":   {`UPDATE audits SET ip = '198.51.100.1' WHERE place = 5`, "Row 5 was changed"},
		"another's act":       {`UPDATE audits SET actor = 'user:2' WHERE place = 1`, "Row 1 was changed"},
		"a refusal done":      {`UPDATE audits SET refused = (1 = 0) WHERE place = 4`, "Row 4 was changed"},
		"a missing row":       {`DELETE FROM audits WHERE place = 3`, "Row 3 was taken away"},
		"the first rows gone": {`DELETE FROM audits WHERE place < 3`, "Row 1 was taken away"},
		"the last row gone":   {`DELETE FROM audits WHERE place = 6`, "The rows after 5 were taken away"},
		"a row from outside":  {`INSERT INTO audits (business_id, domain, actor, action, subject, detail, created_at) VALUES (7, 'live', 'user:1', 'x', '', '{}', '2026-03-01 12:00:00+00:00')`, "1 rows stand outside"},
		"a shorter head":      {`UPDATE audit_heads SET place = 4`, "The rows after 4 were taken away: the seal knows 6"},
		"another end":         {`UPDATE audit_heads SET hash = 'aa'`, "The end of the chain is not what it was"},
		"a head without hash": {`UPDATE audit_heads SET hash = ''`, "The seal was not made with this server's key"},
		"a forged seal":       {`UPDATE audit_heads SET sealed_place = 5`, "The seal was not made with this server's key"},
	}
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, b bench) {
				b.append(owner, "one.done", "two.done", "three.done", "four_refused", "five.done", "six.done")
				if v := b.verdict(0); v.Broken != "" || v.Rows != 6 || v.Checked != 6 || v.SealedAt != nil {
					t.Fatalf("%+v", v)
				}
				if broken, err := b.SealChains(t.Context()); err != nil || len(broken) > 0 {
					t.Fatalf("b.Seal(t.Context()): broken = %v, err = %v", broken, err)
				}
				if v := b.verdict(2); v.Broken != "" || v.Checked != 2 || v.SealedTo != 6 || v.SealedAt == nil {
					t.Fatalf("%+v", v)
				}
				b.exec(way.statement)
				if v := b.verdict(0); !strings.Contains(v.Broken, way.found) {
					t.Errorf("%+v", v)
				}
			})
		})
	}
}

// TestRewrittenChain rewrites a chain with matching hashes, as who has the
// database but not the key can: the seal tells, and no further one is made.
func TestRewrittenChain(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		b.append(owner, "one.done", "two.done", "three.done")
		_, err := b.SealChains(t.Context())
		must(t, err)
		b.exec(`DELETE FROM audits`)
		b.exec(`UPDATE audit_heads SET place = 0, hash = ''`)
		b.append(owner, "one.done", "other.done", "three.done", "four.done")
		if v := b.verdict(0); v.Broken != "The rows up to 3 were rewritten after they were sealed." {
			t.Errorf("%+v", v)
		}
		if broken, err := b.SealChains(t.Context()); err != nil || len(broken) != 1 || broken[0] != 7 {
			t.Errorf("b.Seal(t.Context()): broken = %v, err = %v", broken, err)
		}
	})
}

// TestOldRowsJoin makes rows from before the chain its first ones.
func TestOldRowsJoin(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		for place := range 3 {
			must(t, b.DB.Exec(t.Context()).Create(&models.Audit{BusinessID: 7, Domain: "live", Actor: "user:1", Action: "old.done", Detail: "null", CreatedAt: b.Clock(), Place: int64(place) + 1}).Error)
		}
		must(t, b.DB.Exec(t.Context()).Create(&models.AuditHead{BusinessID: 7, Place: 3}).Error)
		if v := b.verdict(0); v.Broken != "" || v.Rows != 3 || v.Checked != 0 {
			t.Errorf("%+v", v)
		}
		b.append(owner, "new.done")
		if v := b.verdict(0); v.Broken != "" || v.Checked != 4 {
			t.Errorf("%+v", v)
		}
		b.exec(`UPDATE audits SET actor = 'user:2' WHERE place = 2`)
		if v := b.verdict(0); v.At != 2 {
			t.Errorf("%+v", v)
		}
	})
}

// TestManyAtOnce appends from many goroutines, of which some roll back: no place
// is left out or taken twice.
func TestManyAtOnce(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		var all sync.WaitGroup
		stop := errors.New("rolled back")
		for i := range 40 {
			all.Go(func() {
				err := b.DB.Write(t.Context(), func(tx *models.Tx) error {
					if err := audit.AppendAct(tx, owner, b.Clock(), audit.Act{Action: fmt.Sprintf("act.%d", i)}); err != nil {
						return err
					}
					if i%4 == 0 {
						return stop
					}
					return nil
				})
				if err != nil && !errors.Is(err, stop) {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if v := b.verdict(0); v.Broken != "" || v.Checked != 30 {
			t.Errorf("%+v", v)
		}
	})
}

// TestList asks for rows in every way.
func TestList(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		must(t, b.DB.Exec(t.Context()).Create(&models.User{ID: 1, Name: "Ama Mensah", Email: "ama@shop.example", PasswordHash: "x"}).Error)
		must(t, b.DB.Exec(t.Context()).Create(&models.APIKey{ID: 3, BusinessID: 7, Domain: "test", Name: "Till", Hash: "x", Hint: "x", CreatedBy: "user:1"}).Error)
		byKey, others := owner, owner
		byKey.Actor, others.BusinessID = "key:3", 8
		b.append(owner, "key.created", "keyring.done", "user.code_refused")
		b.append(byKey, "webhook.created")
		b.append(others, "key.created")
		start := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		for name, ask := range map[string]struct {
			filter audit.Filter
			want   string
		}{
			"all":      {audit.Filter{}, "webhook.created user.code_refused keyring.done key.created"},
			"an area":  {audit.Filter{Actions: []string{"key.", "webhook.created"}}, "webhook.created key.created"},
			"refused":  {audit.Filter{Refused: true}, "user.code_refused"},
			"an actor": {audit.Filter{Actor: "key:3"}, "webhook.created"},
			"subject":  {audit.Filter{Subject: "that"}, ""},
			"a time":   {audit.Filter{From: start.Add(2 * time.Second), To: start.Add(4 * time.Second)}, "user.code_refused keyring.done"},
			"a page":   {audit.Filter{Before: 3, Limit: 1}, "keyring.done"},
		} {
			list, _, err := b.ListEntries(t.Context(), owner, ask.filter)
			must(t, err)
			var got []string
			for _, e := range list {
				got = append(got, e.Action)
			}
			if text := strings.Join(got, " "); text != ask.want {
				t.Errorf("%s: %s", name, text)
			}
		}
		list, next, err := b.ListEntries(t.Context(), owner, audit.Filter{Limit: 2})
		if err != nil || next != 3 || list[0].Name != "Till" || list[1].Name != "Ama Mensah" || list[1].Email != "ama@shop.example" ||
			list[0].IP != "203.0.113.9" || !strings.HasPrefix(list[0].Agent, "Firefox??x") || len(list[0].Agent) != 300 || list[0].Request != "req_1" {
			t.Errorf("%+v %d %v", list, next, err)
		}
		finance := owner
		finance.Role = scope.Finance
		if _, _, err := b.ListEntries(t.Context(), finance, audit.Filter{}); fault.KindOf(err) != fault.Forbidden {
			t.Error(err)
		}
	})
}

// TestExport (AP-9) writes a log of several batches, as text that is no formula.
func TestExport(t *testing.T) {
	each(t, func(t *testing.T, b bench) {
		must(t, b.DB.Write(t.Context(), func(tx *models.Tx) error {
			for range 1203 {
				if err := audit.AppendAct(tx, owner, b.Clock(), audit.Act{Action: "key.created", Subject: "=1+1"}); err != nil {
					return err
				}
			}
			return nil
		}))
		var file bytes.Buffer
		begin := func(columns []spreadsheet.Column) (spreadsheet.Writer, error) {
			return spreadsheet.NewCSV(io.Writer(&file), columns)
		}
		must(t, b.ExportEntries(t.Context(), owner, audit.Filter{}, audit.Table{Zone: time.UTC, Words: func(string) string { return "API key made" }, Begin: begin}))
		lines := strings.Split(strings.TrimSpace(file.String()), "\r\n")
		if len(lines) != 1204 || !strings.HasPrefix(lines[1], "1203,2026-03-01 12:00:00,user:1,,API key made,key.created,,'=1+1,live,") || !strings.HasPrefix(lines[1203], "1,") {
			t.Errorf("%d lines: %s … %s", len(lines), lines[1], lines[len(lines)-1])
		}
	})
}

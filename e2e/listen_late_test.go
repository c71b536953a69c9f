package e2e

import (
	"database/sql"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"cointill/e2e/harness"
)

// TestListenLateCommit: an event whose transaction took longer than those of
// others appears below them in the list, and is forwarded all the same.
func TestListenLateCommit(t *testing.T) {
	t.Parallel()
	i := harness.New(t, true)
	i.Start()
	i.CreateBusiness()
	verifier, err := standardwebhooks.NewWebhook(secretOfListen)
	if err != nil {
		t.Fatal(err)
	}
	developer := &local{T: t, verifier: verifier, refused: map[string][]byte{}, taken: map[string][]byte{}}
	server := httptest.NewServer(developer)
	t.Cleanup(server.Close)
	first := trigger(t, i, "payment.expired") // told before listen started: not forwarded
	listener, said := listen(t, i, server.URL)
	second := trigger(t, i, "payment.expired")
	harness.WaitFor(t, time.Minute, "the event to be forwarded", func() bool { return strings.Contains(said.String(), second.Reference) })

	database, err := sql.Open("pgx", i.ReadSetting("DATABASE_URL"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = database.Close() })
	late := "evt_" + strings.Repeat("7", 26)
	tx, err := database.Begin()
	if err != nil {
		t.Fatal(err)
	}
	for _, statement := range []string{
		"CREATE TEMPORARY TABLE late ON COMMIT DROP AS SELECT * FROM events WHERE id = '" + second.Event + "'",
		"UPDATE late SET id = '" + late + "', body = replace(body, id, '" + late + "'), number = number - 5000000, sequence = 0",
		"INSERT INTO events SELECT * FROM late",
	} {
		if _, err := tx.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	harness.WaitFor(t, time.Minute, "the late event to be forwarded", func() bool { return developer.count() == 2 })
	end(t, listener, said)
	if strings.Contains(said.String(), first.Reference) || developer.taken[late] == nil || len(developer.twice) > 0 {
		t.Errorf("%v twice: %s", developer.twice, said)
	}
}

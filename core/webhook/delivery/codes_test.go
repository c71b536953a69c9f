package delivery_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"cointill/core/webhook"
	"cointill/core/webhook/diagnose"
	"cointill/models"
	"cointill/models/modelstest"
)

// TestCodesOfEarlierReleases: deliveries that an earlier release ended have a code after the migration that adds codes:
// exhausted ones that of their last attempt, cancelled ones that of their sentence.
func TestCodesOfEarlierReleases(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		gone := diagnose.DescribeStatus(410).String()
		want := map[string]string{gone: "", diagnose.HostUnknown.Describe(): string(diagnose.HostUnknown),
			diagnose.DescribeStatus(500).String(): ""}
		outcomes := map[string]string{gone: webhook.Cancelled}
		for _, why := range []webhook.Reason{webhook.EndpointDeleted, webhook.EndpointInactive, webhook.EventNotKept} {
			want[why.Sentence], outcomes[why.Sentence] = why.Code, webhook.Cancelled
		}
		at := time.Unix(0, 0)
		for sentence, code := range want {
			row := models.Delivery{EndpointID: "whk_1", EventID: "evt_" + sentence, Outcome: outcomes[sentence],
				Attempt: 2, LastError: sentence, DueAt: at, CreatedAt: at}
			if row.Outcome == "" {
				row.Outcome = webhook.Exhausted
			} else {
				code = string(diagnose.NoTLS) // of an attempt before it was cancelled
			}
			err := db.Exec(t.Context()).Create(&row).Error
			if err == nil {
				err = db.Exec(t.Context()).Create([]models.DeliveryAttempt{
					{DeliveryID: row.ID, Attempt: 1, At: at, Code: string(diagnose.NoHTTP)},
					{DeliveryID: row.ID, Attempt: 2, At: at, Code: code}}).Error
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		dialect := map[bool]string{false: "sqlite", true: "postgres"}[db.Postgres()]
		migration, err := os.ReadFile("../../../models/migrations/" + dialect + "/0063_add_webhook_codes.sql")
		if err != nil {
			t.Fatal(err)
		}
		_, updates, _ := strings.Cut(string(migration), "UPDATE deliveries")
		for statement := range strings.SplitSeq("UPDATE deliveries"+updates, ";\n") {
			if err := db.Exec(t.Context()).Exec(statement).Error; err != nil {
				t.Fatal(err)
			}
		}
		var rows []models.Delivery
		if err := db.Read(t.Context()).Find(&rows).Error; err != nil || len(rows) != len(want) {
			t.Fatalf("%d deliveries, %v, want %d", len(rows), err, len(want))
		}
		for _, row := range rows {
			if row.LastCode != want[row.LastError] {
				t.Errorf("the code of %q is %q, want %q", row.LastError, row.LastCode, want[row.LastError])
			}
		}
	})
}

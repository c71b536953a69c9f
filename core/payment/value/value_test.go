package value_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"cointill/core/payment/value"
	"cointill/models"
	"cointill/models/modelstest"
)

// stored returns the values of a payment's metadata, in the order of their bytes.
func stored(t *testing.T, db *models.DB, payment int64) string {
	t.Helper()
	var rows []string
	if err := db.Exec(t.Context()).Model(&models.PaymentValue{}).Where("payment_id = ?", payment).
		Pluck("value", &rows).Error; err != nil {
		t.Fatal(err)
	}
	set := map[string]bool{}
	for _, row := range rows {
		set[row] = true
	}
	return fmt.Sprint(set)
}

func setOf(values ...string) string {
	set := map[string]bool{}
	for _, each := range values {
		set[each] = true
	}
	return fmt.Sprint(set)
}

// TestInsert stores texts and numbers at every depth, each once, and no more than the bounds allow.
func TestInsert(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		long := strings.Repeat("é", 100)
		many := make([]string, 21)
		for i := range many {
			many[i] = fmt.Sprint(1000 + i)
		}
		for i, c := range []struct {
			metadata string
			want     []string
		}{
			{`{}`, nil}, {`[true,null,"x"," a ",7]`, nil},
			{`{"Key":" INV-7 ","again":["inv-7",{"deep":[["ÉtÉ"]]}],"n":-12.50}`, []string{"inv-7", "ÉtÉ", "-12.50"}},
			{`["` + long + `","` + long + `é"]`, []string{long}},
			{`["https:\/\/shop.example","caf\u00e9","\ud800x"]`, []string{"https://shop.example", "café", "\ufffdx"}},
			{`[` + strings.Join(many, ",") + `]`, many[:20]},
		} {
			p := models.Payment{ID: int64(i + 1), BusinessID: 1, Domain: "test", Metadata: &c.metadata,
				CreatedAt: time.Unix(1, 0).UTC()}
			if err := value.Insert(db.Exec(t.Context()), p); err != nil {
				t.Fatal(err)
			}
			if got := stored(t, db, p.ID); got != setOf(c.want...) {
				t.Errorf("of %.60s these values are stored: %s, want %s", c.metadata, got, setOf(c.want...))
			}
		}
	})
}

// TestReplace removes what was stored of former metadata, of that payment alone.
func TestReplace(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		before, now := `{"who":"Ama Mensah","invoice":"77"}`, `{"who":"Erased Customer","invoice":"77"}`
		p := models.Payment{ID: 1, BusinessID: 1, Domain: "test", Metadata: &before, CreatedAt: time.Unix(1, 0).UTC()}
		other := p
		other.ID = 2
		if err := value.Insert(db.Exec(t.Context()), p, other); err != nil {
			t.Fatal(err)
		}
		if err := value.Replace(db.Exec(t.Context()), p, &now); err != nil {
			t.Fatal(err)
		}
		if got, want := stored(t, db, 1), setOf("erased customer", "77"); got != want {
			t.Errorf("after the change these values are stored: %s, want %s", got, want)
		}
		if got, want := stored(t, db, 2), setOf("ama mensah", "77"); got != want {
			t.Errorf("the other payment has the values %s, want %s", got, want)
		}
	})
}

// TestMigration stores the values of payments that were there before searches knew them.
func TestMigration(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, db *models.DB) {
		exec := db.Exec(t.Context())
		for i, metadata := range []string{
			`{"Key" : "INV-7","n":-12.50,"list":["x","two words",{"k":"Deep \"quoted\"","l":"end"}],"t":true}`,
			`{"url":"https:\/\/shop.example\/o\/1", "bad":"\ud800", "e":"` + "É" + `tÉ"}`, "{}",
		} {
			p := models.Payment{BusinessID: 1, Domain: "test", Reference: fmt.Sprint("PAY_", i), TokenHash: fmt.Sprint(i),
				BusinessReference: fmt.Sprint(i), Amount: 1, Metadata: &metadata, CreatedAt: time.Unix(1, 0).UTC()}
			if err := exec.Create(&p).Error; err != nil {
				t.Fatal(err)
			}
		}
		dialect := "sqlite"
		if db.Postgres() {
			dialect = "postgres"
		}
		migration, err := os.ReadFile("../../../models/migrations/" + dialect + "/0052_index_metadata.sql")
		if err != nil {
			t.Fatal(err)
		}
		_, insert, _ := strings.Cut(string(migration), "\n);\n")
		if err := exec.Exec(insert).Error; err != nil {
			t.Fatal(err)
		}
		first := []string{"inv-7", "-12.50", "two words", "end"}
		if !db.Postgres() { // which reads escaped characters
			first = []string{"inv-7", "-12.5", "two words", `deep "quoted"`, "end"}
		}
		if got := stored(t, db, 1); got != setOf(first...) {
			t.Errorf("the first payment has the values %s, want %s", got, setOf(first...))
		}
		if got := stored(t, db, 2); !strings.Contains(got, "https://shop.example/o/1:true") ||
			!strings.Contains(got, "ÉtÉ:true") {
			t.Errorf("the second payment has the values %s, want its address and its text", got)
		}
	})
}

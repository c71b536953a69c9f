package auth_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"cointill/core/account/auth"
	"cointill/models/modelstest"
)

// TestAnswersTakeConstantTime (AP-13): a refused sign-in and a requested reset take as long for
// a known address, for which more is done, as for an unknown one. Time is the bubble's: work
// takes none but where the test says so.
func TestAnswersTakeConstantTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := setup(t, modelstest.Open(t, false, time.Now))
		if _, _, err := b.SignUp(t.Context(), ada); err != nil {
			t.Fatal(err)
		}
		render := b.Render
		b.Render = func(l auth.Letter) (subject, text, html string) {
			<-time.After(300 * time.Millisecond)
			return render(l)
		}
		b.AnswerInterval = auth.New(nil, nil, nil).AnswerInterval
		if b.AnswerInterval <= 300*time.Millisecond {
			t.Fatal("nothing would be hidden by", b.AnswerInterval)
		}
		takes := func(act func() error) time.Duration {
			b.Clock.Advance(2 * time.Minute)
			began := time.Now()
			if err := act(); code(err) != "sign_in_failed" && err != nil {
				t.Error(err)
			}
			return time.Since(began)
		}
		for _, email := range []string{"ada@example.com", "nobody@example.com"} {
			refused := takes(func() error {
				_, err := b.SignIn(t.Context(), credentials(email, "another long phrase"))
				return err
			})
			reset := takes(func() error { return b.AskReset(t.Context(), email, "192.0.2.1") })
			if refused != b.AnswerInterval || reset != b.AnswerInterval {
				t.Errorf("%s: refused after %s, asked after %s; want %s", email, refused, reset, b.AnswerInterval)
			}
		}
		if right := takes(func() error {
			_, err := b.SignIn(t.Context(), credentials("ada@example.com", ada.Password))
			return err
		}); right != 0 {
			t.Errorf("who knows the password waits for %s", right)
		}
		if got := b.Letters(); len(got) != 1 {
			t.Errorf("sent %v", got)
		}
	})
}

var (
	samples  = flag.Int("enumeration.samples", 200, "of each kind, for BenchmarkEnumeration")
	interval = flag.Duration("enumeration.interval", 20*time.Millisecond,
		"the AnswerInterval of BenchmarkEnumeration; 0 hides nothing")
)

// BenchmarkEnumeration prints how likely it is that the times of answers about a known address
// and about an unknown one are of one kind, by the test of Mann and Whitney, beside its limit of 0.01.
// Hashes cost little here: what differs is easier to see than in earnest.
func BenchmarkEnumeration(b *testing.B) {
	for name, act := range map[string]func(s bench, email string){
		"sign-in": func(s bench, email string) {
			if _, err := s.SignIn(b.Context(), credentials(email, "another long phrase")); code(err) != "sign_in_failed" {
				b.Fatal(err)
			}
		},
		"reset": func(s bench, email string) {
			if err := s.AskReset(b.Context(), email, "192.0.2.1"); err != nil {
				b.Fatal(err)
			}
		},
	} {
		b.Run(name, func(b *testing.B) {
			s := setup(b, modelstest.Open(b, false, time.Now))
			if _, _, err := s.SignUp(b.Context(), ada); err != nil {
				b.Fatal(err)
			}
			s.AnswerInterval = *interval
			for b.Loop() {
				times := [2][]float64{}
				for _, known := range rand.Perm(2 * *samples) { //nolint:gosec // an order, not a secret
					s.Clock.Advance(2 * time.Minute) // so that no attempt is limited
					began := time.Now()
					act(s, []string{"ada@example.com", "nobody@example.com"}[known%2])
					times[known%2] = append(times[known%2], float64(time.Since(began)))
				}
				b.ReportMetric(likely(times[0], times[1]), "p(limit:0.01)")
				for i, name := range []string{"µs/known", "µs/nobody"} {
					slices.Sort(times[i])
					b.ReportMetric(times[i][len(times[i])/2]/1e3, name)
				}
			}
		})
	}
}

// likely is the two-sided p-value of Mann and Whitney's test, by the normal distribution.
func likely(a, b []float64) float64 {
	all := slices.Sorted(slices.Values(slices.Concat(a, b)))
	ranks := 0.0
	for _, x := range a {
		first, _ := slices.BinarySearch(all, x)
		after, _ := slices.BinarySearchFunc(all, x, func(y, x float64) int {
			if y <= x {
				return -1
			}
			return 1
		})
		ranks += float64(first+after+1) / 2
	}
	n, m := float64(len(a)), float64(len(b))
	z := (ranks - n*(n+m+1)/2) / math.Sqrt(n*m*(n+m+1)/12)
	return math.Erfc(math.Abs(z) / math.Sqrt2)
}

package stats

import (
	"cmp"
	"maps"
	"slices"

	"cointill/models"
)

// dayKey and waitKey name rows of models.TallyDay and models.TallyWait.
type dayKey struct {
	business                              int64
	domain, day, currency, method, status string
}

type waitKey struct {
	business    int64
	domain, day string
	bucket      int
}

type sum struct{ count, amount int64 }

// sums are what payments come to.
type sums struct {
	days  map[dayKey]sum
	waits map[waitKey]int64
}

func newSums() sums { return sums{map[dayKey]sum{}, map[waitKey]int64{}} }

// addPayment counts a payment as it stands, or, with by -1, takes it back.
func (s sums) addPayment(key dayKey, at Standing, amount, by int64) {
	if at.status == "" {
		return
	}
	key.status = at.status
	was := s.days[key]
	s.days[key] = sum{was.count + by, was.amount + by*amount}
	if at.wait != none {
		s.waits[waitKey{key.business, key.domain, key.day, at.wait}] += by
	}
}

// addChange counts what a change says.
func (s sums) addChange(c models.TallyChange, day string) {
	key := dayKey{business: c.BusinessID, domain: c.Domain, day: day, currency: c.Currency, method: c.Method}
	s.addPayment(key, Standing{c.From, c.FromWait}, c.Amount, -1)
	s.addPayment(key, Standing{c.To, c.ToWait}, c.Amount, 1)
}

// dayRows are the sums as rows, in the same order for all writers, so that they can't deadlock.
func (s sums) dayRows() (rows []models.TallyDay) {
	for k, v := range s.days {
		if v != (sum{}) {
			rows = append(rows, models.TallyDay{BusinessID: k.business, Domain: k.domain, Day: k.day,
				Currency: k.currency, Method: k.method, Status: k.status, Count: v.count, Amount: v.amount})
		}
	}
	slices.SortFunc(rows, func(a, b models.TallyDay) int {
		return cmp.Or(cmp.Compare(a.BusinessID, b.BusinessID), cmp.Compare(a.Domain, b.Domain),
			cmp.Compare(a.Day, b.Day),
			cmp.Compare(a.Currency, b.Currency), cmp.Compare(a.Method, b.Method), cmp.Compare(a.Status, b.Status))
	})
	return rows
}

func (s sums) waitRows() (rows []models.TallyWait) {
	keys := slices.SortedFunc(maps.Keys(s.waits), func(a, b waitKey) int {
		return cmp.Or(cmp.Compare(a.business, b.business), cmp.Compare(a.domain, b.domain), cmp.Compare(a.day, b.day),
			cmp.Compare(a.bucket, b.bucket))
	})
	for _, k := range keys {
		if n := s.waits[k]; n != 0 {
			rows = append(rows, models.TallyWait{BusinessID: k.business, Domain: k.domain, Day: k.day, Bucket: k.bucket,
				Count: n})
		}
	}
	return rows
}

package tron

import (
	"os"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"cointill/chain/tron/params"
)

// recorded are answers of real nodes, as public pages and repositories show them. Each names its source.
type recorded struct {
	Headers []struct {
		Source string         `json:"source"`
		Answer jsontext.Value `json:"answer"`
	} `json:"headers"`
	Block struct {
		Answer jsontext.Value `json:"answer"`
		Infos  jsontext.Value `json:"infos"`
	} `json:"block"`
	Infos []struct {
		Source string         `json:"source"`
		Answer jsontext.Value `json:"answer"`
		To     string         `json:"to"`     // "" if no USDT was moved
		Amount string         `json:"amount"` // in its smallest unit
	} `json:"infos"`
}

func readRecorded(t testing.TB) (r recorded) {
	raw, err := os.ReadFile("testdata/recorded.json")
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestRecordedHeaders: the ids of recorded blocks are the hashes of their headers, and no field can be another one.
func TestRecordedHeaders(t *testing.T) {
	t.Parallel()
	all := readRecorded(t).Headers
	for _, one := range all {
		h := new(header)
		if err := json.Unmarshal(one.Answer, h); err != nil {
			t.Fatalf("%s: %v", one.Source, err)
		}
		got, err := verifyHeader(h)
		if err != nil || got.Height != numberOf(h.ID) || got.Parent != h.Head.Raw.Parent.String() {
			t.Errorf("%s: %+v, %v, want the header of block %d", one.Source, got, err, numberOf(h.ID))
		}
		for name, edit := range map[string]func(*rawHeader){"time": func(r *rawHeader) { r.Time++ },
			"root": func(r *rawHeader) { r.Root[0]++ }, "parent": func(r *rawHeader) { r.Parent[31]++ },
			"witness": func(r *rawHeader) { r.Witness[20]++ }, "version": func(r *rawHeader) { r.Version++ },
			"number": func(r *rawHeader) { r.Number++ }} {
			changed := new(header)
			if err := json.Unmarshal(one.Answer, changed); err != nil {
				t.Fatal(err)
			}
			edit(&changed.Head.Raw)
			if _, err := verifyHeader(changed); err == nil {
				t.Errorf("%s: a header with another %s is taken", one.Source, name)
			}
		}
	}
	if len(all) < 4 {
		t.Errorf("%d headers were compared, want 4", len(all))
	}
}

// TestRecordedBlock: a recorded block and its results fit together.
func TestRecordedBlock(t *testing.T) {
	t.Parallel()
	r := readRecorded(t)
	block, all := new(fullBlock), infos{}
	if err := json.Unmarshal(r.Block.Answer, block); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(r.Block.Infos, &all); err != nil {
		t.Fatal(err)
	}
	if h, err := block.verifyAt(165); err != nil || !block.Head.Raw.hasTransactions() {
		t.Errorf("the header is %+v, %v", h, err)
	}
	ordered, err := matchInfos(block, all)
	if err != nil {
		t.Fatal(err)
	}
	if moves, err := findMovements(block, ordered, testToken); err != nil || len(moves) > 0 {
		t.Errorf("it moves %+v, %v, want nothing", moves, err)
	}
}

// TestRecordedTransfers: the transfer of USDT in a recorded result is read, and no other one.
func TestRecordedTransfers(t *testing.T) {
	t.Parallel()
	p, _ := params.Find("mainnet")
	for _, one := range readRecorded(t).Infos {
		var i info
		if err := json.Unmarshal(one.Answer, &i); err != nil {
			t.Fatalf("%s: %v", one.Source, err)
		}
		block := &fullBlock{Transactions: transactions{{ID: i.ID, Ret: results{{resultSuccess}}}}}
		moves, err := findMovements(block, []*info{&i}, account(p.Token))
		if err != nil || len(moves) != min(len(one.To), 1) {
			t.Errorf("%s: %+v, %v, want a transfer to %q", one.Source, moves, err, one.To)
			continue
		}
		for n := range moves { // its sender isn't recorded
			block.Transactions[0].Data.Contracts = contracts{{owner: moves[n].from}}
			if moves, err = findMovements(block, []*info{&i}, account(p.Token)); err != nil {
				t.Fatal(err)
			}
			m := moves[n]
			if got := m.toTransfer(m.to.String()); got.Address != one.To || got.Amount.String() != one.Amount || m.fee != i.Fee {
				t.Errorf("%s: %+v, want %s to %s", one.Source, got, one.Amount, one.To)
			}
		}
	}
}

// TestUnknownFieldsDontStopReading: a header with a field that this software doesn't know is taken although its id
// can't be computed, and its numbers must fit all the same.
func TestUnknownFieldsDontStopReading(t *testing.T) {
	t.Parallel()
	first := readRecorded(t).Headers[0]
	for _, c := range []struct {
		name string
		edit func(*header)
		ok   bool
	}{
		{"as it was", func(*header) {}, true},
		{"another time", func(h *header) { h.Head.Raw.Time++ }, true},
		{"another number", func(h *header) { h.Head.Raw.Number++ }, false},
		{"an id of another number", func(h *header) { h.ID[7]++ }, false},
		{"a parent of another number", func(h *header) { h.Head.Raw.Parent[7]++ }, false},
		{"a time before 1970", func(h *header) { h.Head.Raw.Time = -1 }, false},
		{"a time after the year 9999", func(h *header) { h.Head.Raw.Time = maxTimestamp + 1 }, false},
		{"no id", func(h *header) { h.ID = hash{} }, false},
	} {
		h := new(header)
		if err := json.Unmarshal(first.Answer, h); err != nil {
			t.Fatal(err)
		}
		h.Head.Raw.Others = jsontext.Value(`{"new_field":1}`)
		c.edit(h)
		if _, err := verifyHeader(h); (err == nil) != c.ok {
			t.Errorf("%s: %v, want it to be taken: %t", c.name, err, c.ok)
		}
	}
}

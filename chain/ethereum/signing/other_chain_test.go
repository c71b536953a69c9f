package signing

import (
	"testing"

	"cointill/chain/ethereum/params"
	"cointill/core/money"
)

// TestSendsOfOneNetworkAreRefusedOnAnother (SD-7) signs the payment of a network of the registry with the same number
// to the same receiver for each other network, and for the contract of that network. Both are refused.
func TestSendsOfOneNetworkAreRefusedOnAnother(t *testing.T) {
	t.Parallel()
	pairs := 0
	for _, here := range money.EVMNetworks() {
		for _, there := range money.EVMNetworks() {
			if here.ChainID == there.ChainID || here.Test || there.Test || here.Token.Contract == "" ||
				there.Token.Contract == "" {
				continue
			}
			pairs++
			p := samplePayment(true)
			p.ChainID, p.Token = uint64(here.ChainID), here.Token.Contract
			moved := p
			moved.ChainID = uint64(there.ChainID)
			for name, raw := range map[string][]byte{"": newWallet(1).sign(newDraft(t, moved)),
				", legacy": newWallet(1).signLegacy(newDraft(t, moved))} {
				if got, want := listFields(p, raw), "["+FieldChainID+"]"; got != want {
					t.Errorf("a send on %s signed for %s%s has differences %s, want %s", here.Label, there.Label, name,
						got, want)
				}
			}
			moved.Token = there.Token.Contract
			want := "[" + FieldChainID + " " + FieldToken + "]"
			if got := listFields(p, newWallet(1).sign(newDraft(t, moved))); got != want {
				t.Errorf("a send on %s signed for %s and its contract has differences %s, want %s", here.Label,
					there.Label, got, want)
			}
		}
	}
	if pairs < 2 {
		t.Errorf("%d pairs of networks were compared, want at least 2", pairs)
	}
}

// TestDecimalsOfAnotherNetworkAreRefused (SD-7) signs the amount of a send with the decimals of USDT on another
// network: both too little and too much differ from the approved amount.
func TestDecimalsOfAnotherNetworkAreRefused(t *testing.T) {
	t.Parallel()
	amounts := map[int]money.Amount{}
	for _, one := range money.EVMNetworks() {
		if p, found := params.Find(one.Chain, one.Name); found && one.Token.Decimals > 0 {
			amounts[one.Token.Decimals] = p.ToTokenUnits(money.Units(25_000_001))
		}
	}
	if got, want := amounts[6].String()+" "+amounts[18].String(), "25000001 25000001000000000000"; got != want {
		t.Fatalf("25.000001 USDT with 6 and 18 decimals is %s, want %s", got, want)
	}
	for approved, amount := range amounts {
		p := samplePayment(true)
		p.Amount = amount
		for signed, other := range amounts {
			want := "[" + FieldAmount + "]"
			if signed == approved {
				want = "[]"
			}
			taken := p
			taken.Amount = other
			if got := listFields(p, newWallet(1).sign(newDraft(t, taken))); got != want {
				t.Errorf("a send of %d decimals signed with %d has differences %s, want %s", approved, signed, got,
					want)
			}
		}
	}
}

package harness

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// each is how many addresses each process takes: without a reservation the two would
// have some eleven in common.
const each = 500

// askedFor is set in the process that TestFreeAddressIsGivenOnce starts beside itself.
const askedFor = "COINTILL_E2E_ADDRESSES"

// TestFreeAddressIsGivenOnce takes addresses in two processes that run at once: all differ.
func TestFreeAddressIsGivenOnce(t *testing.T) {
	t.Parallel()
	own := map[string]bool{}
	for range each {
		address := FreeAddress(t)
		if own[address] {
			t.Errorf("%s was given twice", address)
		}
		own[address] = true
	}
	other := exec.Command(os.Args[0], "-test.run", "^TestFreeAddressesOfAnotherProcess$", "-test.v")
	other.Env = append(os.Environ(), askedFor+"=1")
	var printed bytes.Buffer
	other.Stdout, other.Stderr = &printed, &printed
	if err := other.Run(); err != nil {
		t.Fatalf("the other process: %v\n%s", err, printed.String())
	}
	given := 0
	for line := range strings.Lines(printed.String()) {
		_, address, found := strings.Cut(strings.TrimSpace(line), "address ")
		if !found {
			continue
		}
		if given++; own[address] {
			t.Errorf("%s was given to both processes", address)
		}
	}
	if given != each {
		t.Errorf("the other process took %d addresses, want %d", given, each)
	}
}

// TestFreeAddressesOfAnotherProcess takes addresses for TestFreeAddressIsGivenOnce.
func TestFreeAddressesOfAnotherProcess(t *testing.T) {
	if os.Getenv(askedFor) == "" {
		return
	}
	for range each {
		t.Log("address " + FreeAddress(t))
	}
}

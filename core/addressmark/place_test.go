package addressmark

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestFolderThatHangs: a folder that doesn't answer is waited for once, fails at once while
// it stays so, and costs no mark when another one answers.
func TestFolderThatHangs(t *testing.T) {
	k := Key{Network: "bitcoin-mainnet", Fingerprint: "f"}
	s := New(t.TempDir(), t.TempDir())
	hangs := s.places[0]
	hangs.timeout = time.Millisecond
	answer, ended := make(chan bool), make(chan bool)
	o := hangs.updateMark(k, func(int64) (int64, bool) { <-answer; close(ended); return 0, false })
	if !errors.Is(o.err, errHung) {
		t.Fatalf("the first operation gave %v, want %v", o.err, errHung)
	}
	hangs.timeout = time.Hour // nothing may wait for it now
	for index := range int64(3) {
		if err := s.Reserve(k, index); err != nil {
			t.Fatalf("Reserve(%d): %v", index, err)
		}
	}
	if problems := s.Status()[0].Problems; len(problems) != 1 || problems[0] != errHung.Error() {
		t.Errorf("the folder's problems are %q, want %q", problems, errHung)
	}
	if _, err := os.Stat(filepath.Join(hangs.folder, k.fileName())); !os.IsNotExist(err) {
		t.Errorf("the folder was written to while it hung: %v", err)
	}
	close(answer)
	<-ended
	for deadline := time.After(10 * time.Second); hangs.hung.Load() > 0; {
		select {
		case <-deadline:
			t.Fatal("the folder still counts as hanging")
		case <-time.After(time.Millisecond):
		}
	}
	if err := s.Reserve(k, 3); err != nil || len(s.Status()[0].Problems) > 0 {
		t.Errorf("after it answered: %v, %+v", err, s.Status())
	}
}

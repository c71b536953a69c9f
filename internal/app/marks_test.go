package app

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestMarkFolders: without a setting, marks are kept in the data folder and in the user's
// state folder; a setting replaces both; one that can't be meant is refused.
func TestMarkFolders(t *testing.T) {
	home := t.TempDir()
	inData := filepath.Join("d", "address-marks")
	inHome := filepath.Join(home, ".local/state/cointill/address-marks")
	for _, c := range []struct {
		name, stateHome, home string
		set, want             []string
		refused               string
	}{
		{name: "a user's", home: home, want: []string{inData, inHome}},
		{name: "a state folder", stateHome: "/state", home: home, want: []string{inData, "/state/cointill/address-marks"}},
		{name: "a relative state folder", stateHome: "state", home: home, want: []string{inData, inHome}},
		{name: "no home", want: []string{inData}},
		{name: "a home that isn't there", home: filepath.Join(home, "nobody"), want: []string{inData}},
		{name: "a container's home", home: "/", want: []string{inData}},
		{name: "set", stateHome: "/state", home: home, set: []string{"/a", " b "}, want: []string{"/a", "b"}},
		{name: "the same twice", set: []string{"/a", "/a/."}, refused: "twice"},
		{name: "without a name", set: []string{"/a", " "}, refused: "no name"},
		{name: "too many", set: strings.Split("/a /b /c /d /e /f /g /h /i", " "), refused: "8 folders at most"},
	} {
		s := &Settings{DataDir: "d", AddressMarks: c.set}
		err := s.completeMarks(c.stateHome, c.home)
		if (err == nil) != (c.refused == "") || err != nil && !strings.Contains(err.Error(), c.refused) {
			t.Errorf("%s: %v, want %q", c.name, err, c.refused)
		}
		if err == nil && !slices.Equal(s.markFolders(), c.want) {
			t.Errorf("%s: folders %q, want %q", c.name, s.markFolders(), c.want)
		}
	}
	if got := (&Settings{DataDir: "d"}).markFolders(); !slices.Equal(got, []string{inData}) {
		t.Errorf("settings that were not completed: folders %q, want %q", got, inData)
	}
}

// TestMarkFoldersAreWarnedOf: at start a warning names each folder that can't be used, and says when all lie in the
// data folder, in whichever folder of it.
func TestMarkFoldersAreWarnedOf(t *testing.T) {
	data, other := t.TempDir(), t.TempDir()
	file := filepath.Join(other, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const unusable, alone = "can't be kept in a folder", "in the data folder alone"
	for name, c := range map[string]struct {
		database string
		folders  []string
		want     []string
	}{
		"a folder elsewhere":              {"", []string{filepath.Join(other, "marks")}, nil},
		"the data folder's own":           {"", []string{filepath.Join(data, "address-marks")}, []string{alone}},
		"another one in the data folder":  {"", []string{filepath.Join(data, "deep", "marks")}, []string{alone}},
		"one in it and one elsewhere":     {"", []string{filepath.Join(data, "address-marks"), filepath.Join(other, "marks")}, nil},
		"below a file":                    {"", []string{filepath.Join(file, "marks")}, []string{unusable}},
		"in the data folder, on a server": {"postgres://db", []string{filepath.Join(data, "address-marks")}, nil},
	} {
		var logged bytes.Buffer
		before := slog.Default()
		slog.SetDefault(slog.New(slog.NewTextHandler(&logged, nil)))
		s := Settings{DataDir: data, DatabaseURL: c.database, AddressMarks: c.folders}
		s.warnOfMarks()
		slog.SetDefault(before)
		for _, text := range []string{unusable, alone} {
			if got, want := strings.Contains(logged.String(), text), slices.Contains(c.want, text); got != want {
				t.Errorf("%s: a warning %q: %v, want %v; logged: %s", name, text, got, want, logged.String())
			}
		}
	}
}

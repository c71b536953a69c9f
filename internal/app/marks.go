package app

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mostMarkFolders bounds the folders that address marks are written to: each is waited for.
const mostMarkFolders = 8

// completeMarks checks the folders of address marks. Where none are set they are one in the
// data folder, and one in the user's state folder, which stays when the data folder is put
// back to an earlier state. A user without a home folder has only the first.
func (s *Settings) completeMarks(stateHome, home string) error {
	if len(s.AddressMarks) == 0 {
		s.AddressMarks = []string{s.marksBesideDatabase()}
		if _, err := os.Stat(home); !filepath.IsAbs(stateHome) && filepath.IsAbs(home) && home != "/" && err == nil {
			stateHome = filepath.Join(home, ".local", "state")
		}
		if filepath.IsAbs(stateHome) {
			s.AddressMarks = append(s.AddressMarks, filepath.Join(stateHome, "cointill", "address-marks"))
		}
	}
	if len(s.AddressMarks) > mostMarkFolders {
		return fmt.Errorf("%s_ADDRESS_MARKS may name %d folders at most", EnvPrefix, mostMarkFolders)
	}
	var seen []string
	for i, folder := range s.AddressMarks {
		s.AddressMarks[i] = strings.TrimSpace(folder)
		path, err := filepath.Abs(s.AddressMarks[i])
		if s.AddressMarks[i] == "" || err != nil {
			return fmt.Errorf("%s_ADDRESS_MARKS: one of its folders has no name", EnvPrefix)
		}
		if slices.Contains(seen, path) {
			return fmt.Errorf("%s_ADDRESS_MARKS names %s twice", EnvPrefix, folder)
		}
		seen = append(seen, path)
	}
	return nil
}

// marksBesideDatabase is the folder of address marks in the data folder.
func (s *Settings) marksBesideDatabase() string { return filepath.Join(s.DataDir, "address-marks") }

// markFolders are the folders that address marks are kept in.
func (s *Settings) markFolders() []string {
	if len(s.AddressMarks) == 0 { // settings that were not completed
		return []string{s.marksBesideDatabase()}
	}
	return s.AddressMarks
}

// warnOfMarks says which folders of marks can't be used, and when all would be put back together with the
// database.
func (s *Settings) warnOfMarks() {
	folders := s.markFolders()
	for _, folder := range folders {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			slog.Warn("address marks can't be kept in a folder: no payment gets an address until it can be written to, or "+
				EnvPrefix+"_ADDRESS_MARKS names another", "folder", folder, "error", err)
		}
	}
	inside := func(folder string) bool {
		way, err := filepath.Rel(s.DataDir, folder)
		return err == nil && filepath.IsLocal(way)
	}
	if s.DatabaseURL == "" && !slices.ContainsFunc(folders, func(folder string) bool { return !inside(folder) }) {
		slog.Warn("address marks are kept in the data folder alone: when a copy of the whole folder is put back, "+
			"they are, too, and addresses are given out again. "+EnvPrefix+"_ADDRESS_MARKS names a further folder",
			"folder", folders[0])
	}
}

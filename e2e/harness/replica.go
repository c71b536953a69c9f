package harness

import (
	"net/url"
	"syscall"
)

// NewReplica returns a further process on the data of the instance, to be started. name is
// the process's own on PostgreSQL, as pg_stat_activity shows it.
func (i *Instance) NewReplica(name string) *Instance {
	i.t.Helper()
	r := *i
	r.process, r.ended, r.log = nil, nil, &output{}
	r.env = append([]string{}, i.env...)
	r.listen = FreeAddress(i.t)
	r.Base = "http://" + r.listen
	r.SetSetting("LISTEN", r.listen)
	if at := i.ReadSetting("DATABASE_URL"); at != "" {
		address, err := url.Parse(at)
		if err != nil {
			i.t.Fatal(err)
		}
		query := address.Query()
		query.Set("application_name", name)
		address.RawQuery = query.Encode()
		r.SetSetting("DATABASE_URL", address.String())
	}
	r.endWithTest()
	return &r
}

// Halt stops the process where it is, as a machine does that is frozen.
func (i *Instance) Halt() { i.sendSignal(syscall.SIGSTOP) }

// Resume lets a halted process go on.
func (i *Instance) Resume() { i.sendSignal(syscall.SIGCONT) }

func (i *Instance) sendSignal(s syscall.Signal) {
	i.t.Helper()
	if err := i.process.Process.Signal(s); err != nil {
		i.t.Fatal(err)
	}
}

// SetProgram sets which program the instance runs, in place of the one that was Built.
func (i *Instance) SetProgram(path string) { i.binary = path }

// BuiltProgram returns the program that was built from this tree.
func (i *Instance) BuiltProgram() string {
	i.t.Helper()
	path, err := build()
	if err != nil {
		i.t.Fatal(err)
	}
	return path
}

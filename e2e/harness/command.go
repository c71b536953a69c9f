package harness

import (
	"os/exec"
	"strings"
)

// PrepareCommand prepares a subcommand beside the instance, with its settings and its
// test key in the environment, for tests that start and end it themselves.
func (i *Instance) PrepareCommand(arguments ...string) *exec.Cmd {
	command := exec.Command(i.binary, arguments...)
	command.Env = append(append([]string{}, i.env...), "COINTILL_API_KEY="+i.Key)
	return command
}

// ReadSetting reads what COINTILL_name was set to; "" when it wasn't.
func (i *Instance) ReadSetting(name string) string {
	for _, pair := range i.env {
		if value, found := strings.CutPrefix(pair, "COINTILL_"+name+"="); found {
			return value
		}
	}
	return ""
}

// ProcessID returns the id of the serving process.
func (i *Instance) ProcessID() int { return i.process.Process.Pid }

// IsAlive reports whether the serving process runs.
func (i *Instance) IsAlive() bool {
	select {
	case err := <-i.ended:
		i.ended <- err // Kill and Stop wait for it
		return false
	default:
		return true
	}
}

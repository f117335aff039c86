package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/highwater-go/highwater/internal/files/outfile"
)

// worktrees are the throwaway worktrees of --git, in the folder for temporary files.
type worktrees struct {
	status  *status
	dirs    []string // made, or about to be
	cleaned bool
}

// treeName is what their folders are called: after the process that made them.
var treeName = regexp.MustCompile(`^highwater-([0-9]+)-worktree-`)

// add makes a worktree of the variant's commit and builds the program in it. The
// build's output goes to a file in the folder of the recordings.
func (w *worktrees) add(ctx context.Context, v *variant, build, folder string) error {
	commit, err := git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", v.ref+"^{commit}")
	if err != nil {
		return Usagef("git log shows the commits; --git works in a repository", "--git %s: there is no such commit here", v.ref)
	}
	w.cleanStale(ctx)
	said, err := git(ctx, "log", "-1", "--format=%h %s", commit)
	if err != nil {
		return err
	}
	inside, err := git(ctx, "rev-parse", "--show-prefix")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", fmt.Sprintf("highwater-%d-worktree-", os.Getpid()))
	if err != nil {
		return err
	}
	w.dirs = append(w.dirs, dir)
	if _, err := git(ctx, "worktree", "add", "--quiet", "--detach", dir, commit); err != nil {
		return err
	}
	v.Note, v.dir = said, filepath.Join(dir, inside)
	if build == "" {
		return nil
	}
	w.status.say("building %s: %s", v.Name, said)
	return buildIn(ctx, v, build, filepath.Join(folder, v.Name+".build.log"))
}

// buildIn runs the build.
func buildIn(ctx context.Context, v *variant, build, path string) error {
	log, err := outfile.New(path)
	if err != nil {
		return err
	}
	defer log.Close()
	code, output, err := runShell(ctx, shell{command: build, dir: v.dir, leaves: true}, log)
	if err == nil && code != 0 {
		err = &ExitError{Code: ExitFailed, Err: fmt.Errorf("build %s: it ended with code %d: %s", v.Name, code, strings.TrimSpace(output)),
			Hint: "its output: " + path}
	}
	return err
}

// remove removes all, whatever has happened.
func (w *worktrees) remove() {
	for _, dir := range w.dirs {
		w.removeOne(dir)
	}
	w.dirs = nil
}

// removeOne removes a worktree from the disk and from git's list. Not by "git worktree
// prune": that forgets other people's, too, whose disk is not there just now.
func (w *worktrees) removeOne(dir string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	err := os.RemoveAll(dir)
	_, forgotten := git(ctx, "worktree", "remove", "--force", "--force", dir) // twice: also one that is locked
	if forgotten != nil && w.listed(ctx, dir) {
		err = errors.Join(err, forgotten)
	}
	if err != nil {
		w.status.say("the worktree %s is left: %v", dir, err)
	}
}

// listed reports whether git knows the worktree. One whose making was interrupted it may not know.
func (w *worktrees) listed(ctx context.Context, dir string) bool {
	list, err := git(ctx, "worktree", "list", "--porcelain")
	return err != nil || strings.Contains(list, "worktree "+dir+"\n")
}

// cleanStale removes what a highwater that was killed has left.
func (w *worktrees) cleanStale(ctx context.Context) {
	if w.cleaned {
		return
	}
	w.cleaned = true
	list, err := git(ctx, "worktree", "list", "--porcelain")
	if err != nil {
		return
	}
	for line := range strings.Lines(list) {
		dir, ok := strings.CutPrefix(strings.TrimSpace(line), "worktree ")
		made := treeName.FindStringSubmatch(filepath.Base(dir))
		if !ok || made == nil {
			continue
		}
		if _, err := os.Stat(dir); err != nil {
			continue // of another machine or container, or gone: git forgets it by itself
		}
		pid, err := strconv.Atoi(made[1])
		if _, alive := os.Stat("/proc/" + strconv.Itoa(pid)); err == nil && alive != nil {
			w.status.say("removed the worktree that an interrupted try left: %s", dir)
			w.removeOne(dir)
		}
	}
}

// git runs git here and gives what it says, without the last newline.
func git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	ownGroup(cmd)
	err := cmd.Run()
	if errors.Is(err, exec.ErrNotFound) {
		return "", Usagef("apt-get install git", "--git needs git: %w", err)
	}
	if err != nil {
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(complaint.String()))
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

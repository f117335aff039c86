// Kubectl-highwater is a plugin of kubectl, called as "kubectl highwater". It tells what Kubernetes knows of
// how a pod's containers ended for memory, and how to learn what it does not know: the line.
//
//	kubectl highwater POD [-n NAMESPACE] [-c CONTAINER] [--context NAME] [--kubeconfig FILE] [--image IMAGE]
//
// Where HIGHWATER_STORE names the store of highwater agent, it asks that too, by the highwater
// that is on the PATH: for the last incident of the pod, with its cause and its line.
//
// It reads the pod, with the rights of the user who calls it, and changes nothing. What it suggests is printed
// as a command. The exit code is 0, or 1 where a container was OOM-killed, 2 where the pod cannot be read.
//
// It is a module of its own: client-go is larger than all of Highwater.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	exitKilled   = 1
	exitTrouble  = 2
	defaultImage = "ghcr.io/highwater-go/highwater:latest"
)

// readTimeout is how long the API server may take.
const readTimeout = 30 * time.Second

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// asked is what the command line says.
type asked struct {
	pod, namespace, container, context, kubeconfig, image string
}

func run(args []string, out, errOut io.Writer) int {
	a, err := parse(args, errOut)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(errOut, "kubectl highwater:", err)
		return exitTrouble
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	pod, err := a.read(ctx)
	if err != nil {
		fmt.Fprintln(errOut, "kubectl highwater:", err)
		if errors.Is(err, errNoPod) {
			a.inFleet(ctx, out) // the store keeps what happened in it
		}
		return exitTrouble
	}
	killed, err := explain(out, pod, a)
	if err == nil {
		a.inFleet(ctx, out)
	}
	if err != nil {
		fmt.Fprintln(errOut, "kubectl highwater:", err)
		return exitTrouble
	}
	if killed {
		return exitKilled
	}
	return 0
}

// parse reads flags before and behind the pod, as kubectl does.
func parse(args []string, errOut io.Writer) (a asked, err error) {
	f := flag.NewFlagSet("kubectl highwater", flag.ContinueOnError)
	f.SetOutput(errOut)
	f.Usage = func() {
		fmt.Fprintln(errOut,
			"Usage: kubectl highwater POD [-n NAMESPACE] [-c CONTAINER] [--context NAME] [--kubeconfig FILE] [--image IMAGE]\n\nTells how the containers of a pod ended for memory, and how to learn why.")
		f.PrintDefaults()
	}
	for _, name := range []string{"n", "namespace"} {
		f.StringVar(&a.namespace, name, "", "the pod's `namespace` (default: that of the context)")
	}
	for _, name := range []string{"c", "container"} {
		f.StringVar(&a.container, name, "", "tell of this `container` alone")
	}
	f.StringVar(&a.context, "context", "", "the `context` of the kubeconfig")
	f.StringVar(&a.kubeconfig, "kubeconfig", "", "the kubeconfig's `file`")
	f.StringVar(&a.image, "image", defaultImage, "the `image` with highwater that the suggested commands name")
	for len(args) > 0 {
		if err := f.Parse(args); err != nil {
			return a, err
		}
		if args = f.Args(); len(args) > 0 {
			if a.pod != "" {
				return a, fmt.Errorf("one pod, not %q and %q", a.pod, args[0])
			}
			a.pod, args = strings.TrimPrefix(args[0], "pod/"), args[1:]
		}
	}
	if a.pod == "" {
		return a, errors.New("which pod? kubectl highwater POD")
	}
	return a, nil
}

// errNoPod is that the API server has no such pod.
var errNoPod = errors.New("a pod that was replaced took its last state with it")

// read asks the API server for the pod; a.namespace is known then.
func (a *asked) read(ctx context.Context) (*corev1.Pod, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = a.kubeconfig
	config := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(rules, &clientcmd.ConfigOverrides{CurrentContext: a.context})
	if a.namespace == "" {
		namespace, _, err := config.Namespace()
		if err != nil {
			return nil, err
		}
		a.namespace = namespace
	}
	rest, err := config.ClientConfig()
	if err != nil {
		return nil, err
	}
	client, err := typed.NewForConfig(rest)
	if err != nil {
		return nil, err
	}
	pod, err := client.Pods(a.namespace).Get(ctx, a.pod, metav1.GetOptions{})
	switch {
	case apierrors.IsNotFound(err):
		return nil, fmt.Errorf("there is no pod %s in namespace %s; %w", a.pod, a.namespace, errNoPod)
	case apierrors.IsForbidden(err):
		return nil, fmt.Errorf("%w: reading a pod needs the verb get", err)
	}
	return pod, err
}

package cli

import "github.com/spf13/cobra"

type explainFlags struct{}

func answer(s *streams, path string, f explainFlags) (int, error) { return 0, nil }

func explainCommand(s *streams) *cobra.Command { return &cobra.Command{Use: "explain"} }
func exportCommand(s *streams) *cobra.Command { return &cobra.Command{Use: "export"} }

package main

import "github.com/spf13/cobra"

func newTopCommand(env *environment) *cobra.Command { return &cobra.Command{Use: "top"} }

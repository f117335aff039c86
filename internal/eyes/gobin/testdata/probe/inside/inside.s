// Allows functions without a body in inside.go.

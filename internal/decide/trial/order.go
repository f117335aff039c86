package trial

import "math/rand/v2"

// orderSeed makes the order the same in every trial of as many variants and runs.
const orderSeed = 7

// Order is in which order variants run: rounds of each variant once, each round
// shuffled, so that what changes on the machine meanwhile meets all alike. The
// elements are indices of variants.
func Order(variants, rounds int) []int {
	rng := rand.New(rand.NewPCG(orderSeed, uint64(variants)))
	order := make([]int, 0, variants*rounds)
	for range rounds {
		order = append(order, rng.Perm(variants)...)
	}
	return order
}

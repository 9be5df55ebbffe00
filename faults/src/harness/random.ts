// Dice that fall the same way again for the same seed.

export interface Dice {
  /** In [0, 1). */
  next(): number
  /** From `low` to `high`, both possible. */
  between(low: number, high: number): number
  pick<Item>(items: readonly Item[]): Item
}

/** mulberry32 */
export function diceFrom(seed: number): Dice {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  return {
    next,
    between: (low, high) => low + Math.floor(next() * (high - low + 1)),
    pick: (items) => items[Math.floor(next() * items.length)] as never,
  }
}

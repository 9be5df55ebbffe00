// Dice that fall the same way for the same seed.

export type Dice = () => number

/** Numbers in [0, 1): mulberry32, which is quick and good enough for demo data. */
export function dice(seed: number): Dice {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export const pick = <Item>(roll: Dice, items: readonly Item[]): Item => items[Math.floor(roll() * items.length)] as Item

export const between = (roll: Dice, least: number, most: number): number => least + roll() * (most - least)

/** Around `median`, sometimes several times as long: as durations and waits are. */
export function logNormal(roll: Dice, median: number, spread = 0.6): number {
  const normal = Math.sqrt(-2 * Math.log(1 - roll())) * Math.cos(2 * Math.PI * roll())
  return median * Math.exp(normal * spread)
}

/** An index, as often as its weight says. */
export function weighted(roll: Dice, cumulative: readonly number[]): number {
  const at = roll() * (cumulative.at(-1) as number)
  let [low, high] = [0, cumulative.length - 1]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((cumulative[middle] as number) > at) high = middle
    else low = middle + 1
  }
  return low
}

export function cumulate(weights: readonly number[]): number[] {
  let sum = 0
  return weights.map((weight) => (sum += weight))
}

/** A UUID of the dice, so that the same seed gives the same ids. */
export function uuid(roll: Dice): string {
  const hex = (digits: number) =>
    Math.floor(roll() * 16 ** digits)
      .toString(16)
      .padStart(digits, '0')
  return `${hex(8)}-${hex(4)}-4${hex(3)}-${pick(roll, ['8', '9', 'a', 'b'])}${hex(3)}-${hex(6)}${hex(6)}`
}

// What a call costs. Dollars per million tokens are microdollars per token, so amounts are whole microdollars, rounded up.
import type { VillageConfig } from '../config/read.ts'

/** Microdollars per token. */
export interface Price {
  readonly input: number
  readonly output: number
}

export interface Tokens {
  readonly input: number
  readonly output: number
}

export const NO_TOKENS: Tokens = { input: 0, output: 0 }

/** What the API may add to a request that we cannot see: its own prompt for tools. */
const ADDED_TOKENS = 1_000

/** Throws for a model without a price: its budget could not be kept. */
export function priceOf({ ai }: VillageConfig): Price {
  const price = ai.prices[ai.model]
  if (price !== undefined) return price
  const priced = Object.keys(ai.prices).join(', ') || 'none'
  throw new Error(
    `villagecompute.ai.model is ${JSON.stringify(ai.model)}, and villagecompute.ai.prices has no price for it (it has: ${priced}). Add the model's USD per million tokens: { input: 3, output: 15 }.`,
  )
}

export const costOf = ({ input, output }: Tokens, price: Price): number =>
  Math.ceil(input * price.input + output * price.output)

/** The most that a request can cost: no token is shorter than a byte. */
export const mostCostOf = (requestBytes: number, maxTokens: number, price: Price): number =>
  costOf({ input: requestBytes + ADDED_TOKENS, output: maxTokens }, price)

// A quote, and what may become of asking for one.

export interface Quote {
  readonly symbol: string
  readonly price: number
  readonly change: number
  readonly changePercent: number
  readonly previousClose: number
  /** Such as 2026-11-18. */
  readonly tradingDay: string
}

export interface KeptQuote extends Quote {
  readonly source: string
  readonly fetchedAt: Date
}

/** `refused`: the source does not know the symbol. */
export type Answer = Quote | { readonly refused: string }
/** `limited`: the source answers no more today. */
export type Asked = Answer | 'limited'

export const isQuote = (answer: Answer): answer is Quote => !('refused' in answer)

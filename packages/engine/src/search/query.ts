// What a query means, once it is read.
import type { Field, FieldName } from './fields.ts'

/** All of its conditions hold. None: every job. */
export interface JobQuery {
  readonly conditions: readonly Condition[]
}

/** A field and the values it may have: one of them is enough. */
export interface Condition {
  readonly field: FieldName
  /** Of `payload`: the keys that lead to the value. */
  readonly path: readonly string[]
  readonly isNegated: boolean
  readonly matches: readonly Match[]
}

export type Match =
  | { readonly kind: 'is'; readonly value: string }
  | { readonly kind: 'starts'; readonly value: string }
  /** Somewhere in it, in upper or lower case. */
  | { readonly kind: 'contains'; readonly value: string }
  /** It has a value. */
  | { readonly kind: 'any' }
  | { readonly kind: 'compare'; readonly operator: Operator; readonly value: number | string | Moment }
  /** From the first moment, up to but without the second. */
  | { readonly kind: 'during'; readonly from: Moment; readonly to: Moment }

export type Operator = '>' | '>=' | '<' | '<='

/** A time, or one that is counted from now. */
export type Moment = { readonly at: Date } | { readonly fromNowMs: number }

/** Where a query cannot be read, and why. `start` and `end` are positions in its text. */
export interface QueryProblem {
  readonly message: string
  readonly start: number
  readonly end: number
  /** What may have been meant, to be put in place of the text from `start` to `end`. */
  readonly suggestion: string | null
}

export type ReadQuery =
  | { readonly query: JobQuery; readonly problem: null }
  | { readonly query: null; readonly problem: QueryProblem }

/** A condition of programs: the field is one of these values. */
export const isOneOf = (field: Field['name'], ...values: string[]): Condition => ({
  field,
  path: [],
  isNegated: false,
  matches: values.map((value) => ({ kind: 'is', value })),
})

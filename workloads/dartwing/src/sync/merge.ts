// The rule by which changes of several devices become one state: per field the later stamp wins.
//
// A delete is a field of its own: a row is there if any field is later than its delete. Merging is commutative, associative and
// idempotent, so devices may upload in any order, and more than once.

export type Value = string | number | boolean | null

/** A record as it stands: values and, for each, the stamp of the change that set it. */
export interface MergeState {
  readonly fields: Readonly<Record<string, Value>>
  readonly clocks: Readonly<Record<string, string>>
}

export interface Change {
  readonly field: string
  readonly value: Value
  readonly stamp: string
  /** The stamp that the device had seen at this field; null: none. */
  readonly base: string | null
}

/** Both values of a change that was made without knowing the other. */
export interface Conflict {
  readonly field: string
  readonly kept: { readonly value: Value; readonly stamp: string }
  readonly lost: { readonly value: Value; readonly stamp: string }
}

export interface Merged {
  readonly state: MergeState
  readonly isChanged: boolean
  readonly conflict: Conflict | undefined
}

/** Under this name the delete of a row is a field. */
export const DELETED = '$deleted'

export const EMPTY: MergeState = { fields: {}, clocks: {} }

export function merge(state: MergeState, { field, value, stamp, base }: Change): Merged {
  const known = state.clocks[field]
  if (known === stamp) return { state, isChanged: false, conflict: undefined }
  const met = known === undefined ? undefined : { value: state.fields[field] ?? null, stamp: known }
  const wins = met === undefined || stamp > met.stamp
  const isConcurrent = met !== undefined && base !== met.stamp && met.value !== value
  const [kept, lost] = wins ? [{ value, stamp }, met] : [met, { value, stamp }]
  const conflict = isConcurrent && lost !== undefined ? { field, kept, lost } : undefined
  if (!wins) return { state, isChanged: false, conflict }
  const merged = { fields: { ...state.fields, [field]: value }, clocks: { ...state.clocks, [field]: stamp } }
  return { state: merged, isChanged: true, conflict }
}

/** Whether the row is gone: nothing has been set since it was deleted. */
export function isDeleted({ clocks }: MergeState): boolean {
  const deletedAt = clocks[DELETED]
  if (deletedAt === undefined) return false
  return Object.entries(clocks).every(([field, stamp]) => field === DELETED || stamp <= deletedAt)
}

// What a handler may say of how far it is.
import { InvalidDefinition } from '../errors.ts'
import { storable } from '../failure.ts'

export interface Progress {
  done: number
  /** Null: not known. */
  total: number | null
  note: string | null
}

const MAX_NOTE = 500

/** Throws what makes no sense. */
export function checkedProgress(done: number, total?: number | null, note?: string | null): Progress {
  const isAmount = (value: unknown): boolean => Number.isFinite(value) && (value as number) >= 0
  if (!isAmount(done)) throw refused(`done is ${String(done)}: expected a number from 0`)
  if (total != null && !isAmount(total))
    throw refused(`total is ${String(total)}: expected a number from 0, or nothing`)
  if (total != null && done > total)
    throw refused(`done is ${done}, and total only ${total}: expected at most the total`)
  if (note != null && typeof note !== 'string') throw refused(`note is a ${typeof note}: expected text`)
  return { done, total: total ?? null, note: note == null ? null : storable(note, MAX_NOTE) }
}

const refused = (problem: string): InvalidDefinition => new InvalidDefinition(`ctx.progress was refused: ${problem}.`)

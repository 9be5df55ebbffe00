// How long dead letters are kept once a person has decided about them.
import { InvalidDefinition } from '../errors.ts'
import { type Duration, toMs } from './duration.ts'

export interface LetterRetentionOptions {
  /** How long; false: until `deadLetters.prune` is called. Default '7d'. */
  keep?: Duration | false
  /** What that counts from: when it was decided about the letter, or when its job died. Default 'decision'. */
  since?: 'decision' | 'death'
}

export interface LetterRetention {
  readonly ageMs: number
  readonly since: 'decision' | 'death'
}

/** Null: housekeeping forgets none. */
export function letterRetention({
  keep = '7d',
  since = 'decision',
}: LetterRetentionOptions = {}): LetterRetention | null {
  if (since !== 'decision' && since !== 'death')
    throw new InvalidDefinition(`deadLetters.since is ${JSON.stringify(since)}: expected 'decision' or 'death'.`)
  return keep === false ? null : { ageMs: toMs(keep, 'deadLetters.keep'), since }
}

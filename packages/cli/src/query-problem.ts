import { InvalidQuery } from 'millrace'
import { Refused } from './failure.ts'

/** A query that cannot be read is shown with a mark under the place. */
export function pointAt(error: unknown): never {
  if (!(error instanceof InvalidQuery)) throw error
  const line = error.query.replace(/\s/g, ' ')
  const mark = '^'.repeat(Math.max(1, Math.min(error.end, line.length) - error.start))
  throw new Refused(`The query cannot be read.\n\n  ${line}\n  ${' '.repeat(error.start)}${mark}\n${error.problem}`)
}

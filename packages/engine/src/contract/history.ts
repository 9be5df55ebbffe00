// Whether every transition of a type's jobs is kept.
import { InvalidDefinition } from '../errors.ts'
import type { Retention } from './job.ts'

export type HistoryOption = 'full' | 'off'

/** The type's own word, else its queue's. */
export function resolveHistory(
  type: string,
  {
    history,
    queue,
    retention,
  }: { history: HistoryOption | undefined; queue: HistoryOption | undefined; retention: Retention },
): HistoryOption {
  const chosen = history ?? queue ?? 'off'
  if (chosen !== 'full' && chosen !== 'off') {
    throw new InvalidDefinition(`Job "${type}" has history ${JSON.stringify(chosen)}: expected 'full' or 'off'.`)
  }
  if (chosen === 'full' && retention === 'none') {
    throw new InvalidDefinition(
      `Job "${type}" has a full history and retention 'none': how a job ended is known from the archive only. Say retention: 'short' or longer, or history: 'off'.`,
    )
  }
  return chosen
}

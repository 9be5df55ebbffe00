// Whether the log lines of runs that succeed are kept.
import { InvalidDefinition } from '../errors.ts'
import type { Retention } from './job.ts'

export type LogsOption = 'keep' | 'off'

/** The type's own word, else its queue's. */
export function resolveLogs(
  type: string,
  { logs, queue, retention }: { logs: LogsOption | undefined; queue: LogsOption | undefined; retention: Retention },
): LogsOption {
  const chosen = logs ?? queue ?? 'off'
  if (chosen !== 'keep' && chosen !== 'off')
    throw new InvalidDefinition(`Job "${type}" has logs ${JSON.stringify(chosen)}: expected 'keep' or 'off'.`)
  if (logs === 'keep' && retention === 'none') {
    throw new InvalidDefinition(
      `Job "${type}" keeps its logs and has retention 'none': they are kept in the archive. Say retention: 'short' or longer, or logs: 'off'.`,
    )
  }
  return chosen
}

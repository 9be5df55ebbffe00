// A bulk operation as the dialogs follow it.
import type { Answer } from '../../data/queries.ts'
import type { Progress } from '../../ui/overlay/operation-progress.tsx'

export type Report = Answer<'bulk', 'get'>

export function progressOf({ changed, already, refused, expected, status, error, waits }: Report): Progress {
  return {
    ...{ changed, already, refused, expected, waits },
    isOver: status !== 'running',
    failure: status === 'cancelled' ? 'It was stopped. What it had changed stays so.' : error,
  }
}

// How the canary of a bulk operation is told.
import type { BulkCanary, BulkReport } from 'millrace'
import { fromNow, oneLine } from '../print.ts'
import { table } from '../table.ts'
import { counted } from '../worker-process.ts'

type Report = Pick<BulkReport, 'canary' | 'canaries' | 'status'>

/** Null: there is none. */
export function canaryLine({ canary, canaries, status }: Report): string | null {
  if (canary === null) return null
  const counts = new Map<string, number>()
  for (const each of canaries) counts.set(stateOf(each), (counts.get(stateOf(each)) ?? 0) + 1)
  const states = [...counts].map(([state, count]) => `${count} ${state}`).join(', ')
  const follows = status === 'running' ? STAGES[canary.stage] : ''
  return `Canary of ${counted(canaries.length, 'job')}${states && `: ${states}`}.${follows}`
}

const STAGES: Record<NonNullable<BulkReport['canary']>['stage'], string> = {
  choosing: '',
  waiting: ' The rest follows once all have ended well.',
  passed: ' The rest follows.',
  skipped: ' The rest follows without waiting for it.',
}

export function canaryTable(canaries: readonly BulkCanary[]): string {
  const rows = canaries.map((each) => [
    each.jobId,
    oneLine(each.tenant, 30),
    each.newJobId ?? '',
    stateOf(each),
    fromNow(each.finishedAt),
    oneLine(each.error ?? each.reason, 60),
  ])
  return table(['CANARY', 'TENANT', 'NEW JOB', 'STATUS', 'ENDED', 'WHY'], rows)
}

function stateOf({ outcome, newJobId, status }: BulkCanary): string {
  if (outcome === null) return 'to be redriven'
  if (newJobId === null) return 'refused'
  return status ?? 'ended'
}

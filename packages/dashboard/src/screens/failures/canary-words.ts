// A redrive in words: pure.
import { formatNumber } from '../../ui/text/format.ts'
import type { Report } from './operations.ts'

export interface CanaryCounts {
  readonly completed: number
  readonly dead: number
  readonly running: number
}

export function canaryCounts({ canaries }: Pick<Report, 'canaries'>): CanaryCounts {
  const count = (...states: string[]) =>
    canaries.filter(({ status }) => status !== null && states.includes(status)).length
  return {
    completed: count('completed'),
    dead: count('dead'),
    running: count('pending', 'processing', 'blocked', 'failed'),
  }
}

/** "Canary: 4 of 5 have completed, 1 is running". */
export function headlineOf(operation: Report): string {
  const { status, canary, expected, changed } = operation
  const { completed, dead, running } = canaryCounts(operation)
  const all = formatNumber(expected)
  if (status === 'stopped')
    return `The canary has died: the redrive was stopped after ${formatNumber(changed)} of ${all}`
  if (status === 'cancelled') return `The redrive was stopped by hand after ${formatNumber(changed)} of ${all}`
  if (status === 'failed') return 'The redrive has failed'
  if (status === 'completed') return `The redrive is done: ${formatNumber(changed)} of ${all} have a new job`
  if (canary === null || canary.stage === 'passed' || canary.stage === 'skipped')
    return `${formatNumber(changed)} of ${all} letters are redriven`
  if (canary.stage === 'choosing') return 'Canary: letters of different tenants are being chosen'
  const words = [
    `${completed} of ${canary.size} have completed`,
    running > 0 && `${running} under way`,
    dead > 0 && `${dead} died`,
  ]
  return `Canary: ${words.filter(Boolean).join(', ')}`
}

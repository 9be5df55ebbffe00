// Kinds of failure with all that is known of them: pure.
import type { Answer } from '../../data/queries.ts'
import { roughDuration } from '../../ui/text/format.ts'

type Counted = Answer<'deadLetters', 'groups'>['groups'][number]
export type Facts = Answer<'deadLetters', 'groupFacts'>['groups'][number]
export type Operation = Answer<'bulk', 'list'>['operations'][number]
export type GroupState = 'new' | 'acknowledged' | 'redriving'

export interface Group extends Counted {
  readonly key: string
  readonly facts: Facts | undefined
  /** A redrive that is under way. */
  readonly operation: Operation | undefined
  readonly state: GroupState
}

const same = (a: { fingerprint: string | null; type: string }) => `${a.fingerprint} ${a.type}`

export function joined(
  counted: readonly Counted[],
  facts: readonly Facts[],
  operations: readonly Operation[],
): Group[] {
  const known = new Map(facts.map((each) => [same(each), each]))
  return counted.map((group) => {
    const more = known.get(same(group))
    const operation = operations.find((each) => isRedriveOf(each, group))
    const isSeen = more !== undefined && more.acknowledged >= Math.min(group.pending, more.letters)
    const state = operation ? 'redriving' : isSeen ? 'acknowledged' : 'new'
    return { ...group, key: same(group), facts: more, operation, state }
  })
}

/** The jobs of a group as a query: for the list of jobs, for bulk operations, and to know their operations again. */
export function queryOf({ fingerprint, type }: { fingerprint: string | null; type: string }): string {
  const name = /^[\w.-]+$/.test(type) ? type : JSON.stringify(type)
  return `status:dead fp:${fingerprint} type:${name}`
}

function isRedriveOf(
  { action, status, query, undoOf }: Operation,
  group: { fingerprint: string | null; type: string },
): boolean {
  return action === 'redrive' && status === 'running' && undoOf === null && query === queryOf(group)
}

export interface Trend {
  readonly tone: 'fail' | 'dim'
  readonly says: string
}

/** What the deaths by the hour say, in two words. */
export function trendOf(byHour: readonly number[], lastDiedAt: Date, now: number): Trend {
  const sum = (from: number, to?: number) => byHour.slice(from, to).reduce((total, count) => total + count, 0)
  const silentMs = now - lastDiedAt.getTime()
  const [recent, before, all] = [sum(-3), sum(-6, -3), sum(0)]
  if (silentMs > 3_600_000) return { tone: 'dim', says: `none for ${roughDuration(silentMs)}` }
  if (recent === all) return { tone: 'fail', says: `▲ ${recent} in 3 h` }
  if (recent > 1.5 * before) return { tone: 'fail', says: `▲ ${recent} after ${before}` }
  if (recent < before / 1.5) return { tone: 'dim', says: `▼ ${recent} after ${before}` }
  return { tone: 'dim', says: `= ${Math.max(1, Math.round(recent / 3))} an hour` }
}

const REASONS: Readonly<Record<string, string>> = {
  exhausted: 'all attempts used',
  discarded: 'discarded by its handler',
  unrecoverable: 'trying again cannot help',
  gave_up: 'gave up',
  invalid_payload: 'payload does not fit',
  stuck: 'ran far too long',
  crash_loop: 'killed its worker',
}

export const reasonOf = (reason: string): string => REASONS[reason] ?? reason.replaceAll('_', ' ')

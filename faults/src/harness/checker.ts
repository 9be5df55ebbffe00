// The verdict on a history: what was promised, what ran, what is in the tables at the end.
import type { Findings } from '../scenario.ts'
import type { Fact, RunFact } from './history.ts'
import { eventually } from './until.ts'
import type { World } from './world.ts'

export interface Verdict {
  acknowledged: number
  unknown: number
  refused: number
  runs: number
  completed: number
  /** Acknowledged, and not completed although nothing is left to do. */
  lost: string[]
  /** Ran or completed, and nobody ever enqueued it. */
  ghosts: string[]
  /** Tasks of the transactional kind whose effect is not there exactly once. */
  wrongEffects: string[]
  /** Tasks that were started more than once. */
  duplicated: string[]
  /** Tasks that completed although a run of theirs never came to its end. */
  recovered: string[]
  /** Still in the live table. */
  live: number
}

export interface FinalState {
  /** By task number: how it ended. */
  archived: Map<string, string>
  transactionalEffects: Map<string, number>
  live: number
}

/** Pure, so that it can be tested with made-up histories. */
export function judge(facts: readonly Fact[], state: FinalState): Verdict {
  const numbers = (what: Fact['what']) => facts.filter((fact) => fact.what === what).map((fact) => (fact as RunFact).n)
  const acknowledged = new Set(numbers('acknowledged'))
  const unknown = new Set(numbers('unknown'))
  const started = facts.filter((fact): fact is Fact & RunFact => fact.what === 'started')
  const finished = new Set(
    facts.flatMap((fact) => (fact.what === 'ended' || fact.what === 'failed' ? [fact.run + fact.n] : [])),
  )
  const runsOf = new Map<string, number>()
  for (const { n } of started) runsOf.set(n, (runsOf.get(n) ?? 0) + 1)
  const isCompleted = (n: string) => state.archived.get(n) === 'completed'
  const known = (n: string) => acknowledged.has(n) || unknown.has(n)
  return {
    acknowledged: acknowledged.size,
    unknown: unknown.size,
    refused: new Set(numbers('refused')).size,
    runs: started.length,
    completed: [...state.archived.values()].filter((status) => status === 'completed').length,
    lost: [...acknowledged].filter((n) => !isCompleted(n)),
    ghosts: [...new Set([...runsOf.keys(), ...state.archived.keys()])].filter((n) => !known(n)),
    wrongEffects: [...state.transactionalEffects].filter(([, effects]) => effects !== 1).map(([n]) => n),
    duplicated: [...runsOf].filter(([, runs]) => runs > 1).map(([n]) => n),
    recovered: [...new Set(started.filter((run) => !finished.has(run.run + run.n)).map(({ n }) => n))].filter(
      isCompleted,
    ),
    live: state.live,
  }
}

/** Reads the tables. A completed task whose effect was promised with its completion counts as 0 if it has none. */
async function finalState(world: World): Promise<FinalState> {
  const archived = await world.query<{ n: string; status: string; does: string }>(
    `select payload->>'n' as n, status, payload->>'does' as does from millrace.job_archive`,
  )
  const effects = await world.query<{ n: string; count: number }>(
    `select n, count(*)::int as count from fault.effect where kind = 'transactional' group by n`,
  )
  const transactional = new Map(effects.map(({ n, count }) => [n, count]))
  for (const { n, status, does } of archived) {
    if (status === 'completed' && does.includes('transaction') && !transactional.has(n)) transactional.set(n, 0)
  }
  return {
    archived: new Map(archived.map(({ n, status }) => [n, status])),
    transactionalEffects: transactional,
    live: await world.count('select from millrace.job'),
  }
}

/** Waits until no live job is left; false when the deadline came first, or when nothing has moved for `stallMs`. */
export async function drain(world: World, withinMs: number, stallMs = 10_000): Promise<boolean> {
  let last = ''
  let movedAt = performance.now()
  const outcome = await eventually(withinMs, async () => {
    const [row] = await world.query<{ live: number; moved: string }>(
      `select count(*)::int as live, coalesce(max(updated_at)::text, '') as moved from millrace.job`,
    )
    if (row?.live === 0) return 'drained'
    const state = JSON.stringify(row)
    if (state !== last) movedAt = performance.now()
    last = state
    return performance.now() - movedAt > stallMs ? 'stalled' : undefined
  })
  return outcome === 'drained'
}

/**
 * The criteria that every history must meet. `mayDie`: a task that is a dead letter for this reason is not lost. `mayBeLost`:
 * nobody promised that this one comes through.
 */
export async function checkHistory(
  world: World,
  findings: Findings,
  mayDie: (n: string) => boolean = () => false,
  mayBeLost: (n: string) => boolean = () => false,
): Promise<Verdict> {
  const state = await finalState(world)
  const verdict = judge(world.history.read(), state)
  const sample = (list: readonly string[]) =>
    `${list.length}${list.length > 0 ? `: ${list.slice(0, 5).join(', ')}` : ''}`
  const lost = verdict.lost.filter((n) => !mayBeLost(n) && (state.archived.get(n) !== 'dead' || !mayDie(n)))
  findings.check('lost = 0', lost.length === 0, sample(lost))
  findings.check('ghosts = 0', verdict.ghosts.length === 0, sample(verdict.ghosts))
  findings.check('transactional effects exactly once', verdict.wrongEffects.length === 0, sample(verdict.wrongEffects))
  findings.equal('nothing is left in the live table', verdict.live, 0)
  findings.figures({
    acknowledged: verdict.acknowledged,
    unknown: verdict.unknown,
    refused: verdict.refused,
    runs: verdict.runs,
    completed: verdict.completed,
    'dead letters': verdict.lost.filter((n) => state.archived.get(n) === 'dead' && mayDie(n)).length,
    duplicated: verdict.duplicated.length,
    recovered: verdict.recovered.length,
  })
  return verdict
}

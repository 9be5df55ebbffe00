// F4: handlers that ignore their abort signal. Inline they are fenced off at twice their timeout: the job is a dead
// letter, the slot is reported leaked, what they return later is dropped. Isolated they are killed at their timeout.
// Either way the jobs of another queue of the same worker hardly notice.
import { checkHistory, drain } from '../harness/checker.ts'
import { type Producer, tasksOf } from '../harness/producer.ts'
import { BRIEF_TIMEOUT_MS, ISOLATED_ATTEMPTS, ISOLATED_TIMEOUT_MS } from '../harness/tasks.ts'
import { until } from '../harness/until.ts'
import { World } from '../harness/world.ts'
import { defineScenario, type Findings } from '../scenario.ts'
import { warmUp } from './warm-up.ts'

const INLINE = 4
const INLINE_MS = 6_000
/** Two at a time: their attempts take about as long as the inline handlers. */
const ISOLATED = 4
/** Not killed, it would come to its end. */
const ISOLATED_MS = 2 * ISOLATED_TIMEOUT_MS
const KILL_WITHIN_MS = 1_000
/** They wait more than they compute: what is measured is whether slots are served, not how fast the machine is. */
const NEIGHBOURS = { count: 100, ms: 100 }
const LEAST_SHARE = 0.9

export default defineScenario({
  name: 'f04-ignored-abort',
  title: 'handlers that ignore their abort signal',
  mutations: { 'no-burial': 'inline: dead letters' },

  async body(options, findings) {
    await using world = await World.open(options)
    const producer = world.startProducer('producer')
    await world.startWorker({ label: 'worker', isApart: true })
    await warmUp(world, producer)
    const calm = [await throughput(world, producer, 'calm-0')]
    await offend(world, producer)
    const busy = [await throughput(world, producer, 'busy-0'), await throughput(world, producer, 'busy-1')]
    const isMutated = options.mutation !== undefined
    findings.check('drains', await drain(world, isMutated ? 10_000 : 60_000))
    await untilReturned(world)
    await checkInline(world, findings.of('inline'))
    if (isMutated) return
    await checkIsolated(world, findings.of('isolated'))
    calm.push(await throughput(world, producer, 'calm-1'))
    const share = mean(busy) / mean(calm)
    findings.check(
      'neighbours keep their throughput',
      share >= LEAST_SHARE,
      `${Math.round(share * 100)} % of at least 90 %`,
    )
    findings.figures({ 'neighbours/s alone': mean(calm), 'neighbours/s beside them': mean(busy) })
    await checkHistory(world, findings, (n) => isOffender(n))
  },
})

const isOffender = (n: string): boolean => n.startsWith('inline') || n.startsWith('isolated')

/** Returns when all slots of the offenders are taken. */
async function offend(world: World, producer: Producer): Promise<void> {
  const inline = tasksOf('inline', INLINE, () => ({ does: 'ignore', ms: INLINE_MS }))
  const isolated = tasksOf('isolated', ISOLATED, (i) => ({ does: i % 2 === 0 ? 'ignore' : 'block', ms: ISOLATED_MS }))
  await producer.order({ how: 'many', type: 'apart', tasks: inline })
  await producer.order({ how: 'many', type: 'isolated', tasks: isolated })
  const running = () => world.history.runs('started').filter(({ n }) => isOffender(n)).length
  await until('the offenders run', 15_000, () => running() >= INLINE + ISOLATED / 2)
}

/** Neighbours per second, from the first start to the last end. */
async function throughput(world: World, producer: Producer, name: string): Promise<number> {
  const { history } = world
  await producer.order({
    how: 'many',
    tasks: tasksOf(name, NEIGHBOURS.count, () => ({ does: 'plain', ms: NEIGHBOURS.ms })),
  })
  const of = (what: 'started' | 'ended') => history.runs(what).filter(({ n }) => n.startsWith(name))
  await until(`${name} has ended`, 60_000, () => of('ended').length === NEIGHBOURS.count)
  const times = (what: 'started' | 'ended') => of(what).map(({ at }) => at)
  return (NEIGHBOURS.count * 1_000) / (Math.max(...times('ended')) - Math.min(...times('started')))
}

/** The handlers that nobody waits for any more come to their end, too. */
async function untilReturned({ history }: World): Promise<void> {
  const runs = () => history.runs('ended').filter(({ n }) => n.startsWith('inline'))
  await until(
    'the ignored handlers have returned',
    2 * INLINE_MS,
    () => new Set(runs().map(({ n }) => n)).size === INLINE,
  )
}

async function checkInline(world: World, findings: Findings): Promise<void> {
  const { history } = world
  findings.equal('dead letters', await letters(world, 'inline', 'stuck'), INLINE)
  const told = history.runs('aborted').filter(({ n, why }) => n.startsWith('inline') && why === 'TimedOut')
  findings.check('were aborted in time', told.length >= INLINE, told.length)
  findings.equal('slots reported leaked', history.events('slot_leaked').length, INLINE)
  findings.equal('slots recovered', history.events('slot_recovered').length, INLINE)
  const starts = history.runs('started').filter(({ n }) => n.startsWith('inline'))
  findings.equal('runs', starts.length, INLINE)
  const accepted = await world.count(
    `select from millrace.job_archive where type = 'apart' and (status = 'completed' or result is not null)`,
  )
  findings.equal('late results that were accepted', accepted, 0)
  findings.figure('stuck after ms', 2 * BRIEF_TIMEOUT_MS)
}

async function checkIsolated(world: World, findings: Findings): Promise<void> {
  const { history } = world
  findings.equal('dead letters', await letters(world, 'isolated', 'exhausted'), ISOLATED)
  const attempts = await world.query<{ error_class: string; ms: number }>(
    `select error_class, extract(epoch from finished_at - started_at)::float8 * 1000 as ms
     from millrace.job_attempt where type = 'isolated'`,
  )
  const timedOut = attempts.filter((attempt) => attempt.error_class === 'TimedOut')
  findings.equal('attempts that timed out', timedOut.length, ISOLATED * ISOLATED_ATTEMPTS)
  const slowest = Math.max(...attempts.map(({ ms }) => ms))
  findings.atMost('killed after', slowest, ISOLATED_TIMEOUT_MS + KILL_WITHIN_MS, ' ms')
  const finished = history.runs('ended').filter(({ n }) => n.startsWith('isolated'))
  findings.equal('handlers that went on to their end', finished.length, 0)
  const leaked = history
    .events('slot_leaked')
    .filter(({ id }) => history.runs('started').some((run) => run.id === id && run.n.startsWith('isolated')))
  findings.equal('slots leaked', leaked.length, 0)
}

function letters(world: World, prefix: string, reason: string): Promise<number> {
  return world.count(
    `select from millrace.dead_letter_jobs where reason = $1 and original_job->'payload'->>'n' like $2`,
    [reason, `${prefix}%`],
  )
}

const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length

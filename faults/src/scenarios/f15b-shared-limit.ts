// F15b: two queues share a limit of three, while workers are killed, frozen beyond their lease and thawed, and frozen
// in the middle of a claim. Never more than three runs at once whose lease was valid; no place stays free in vain.
import { setTimeout as sleep } from 'node:timers/promises'
import { createMillrace } from 'millrace'
import { checkHistory, drain } from '../harness/checker.ts'
import type { Child } from '../harness/child.ts'
import { recorder } from '../harness/history.ts'
import { type LimitedType, limitedContracts, PLACES } from '../harness/limited-tasks.ts'
import { tasksOf } from '../harness/producer.ts'
import { mostAtOnce, watchRuns, watchVain } from '../harness/runs.ts'
import { until } from '../harness/until.ts'
import { LEASE, World } from '../harness/world.ts'
import { defineScenario, type Scale } from '../scenario.ts'

const rounds: Record<Scale, number> = { short: 1, standard: 4, full: 20 }
const WORK_MS = 60
/** Of each queue, per round: more than can be done before the last freeze. */
const TASKS = 200
/** A claim that was cut short loses its locks after two seconds; then there are its jobs to rescue. */
const VAIN_MS = 4_500
const FROZEN_MS = 7_000
const TYPES: readonly LimitedType[] = ['shots', 'pages']
/** Two for each queue: one that things are done to, one that inherits. */
const LABELS = TYPES.flatMap((type) => [`${type}-victim`, `${type}-heir`])

export default defineScenario({
  name: 'f15b-shared-limit',
  title: 'a limit of two queues under killed and frozen workers',
  mutations: {
    'running-uncounted': 'jobs that held a place at once',
    'governed-without-lock': 'jobs that held a place at once',
    'locks-kept': 'a place is free in vain, at the longest',
  },

  async body(options, findings) {
    await using world = await World.open(options)
    await watchRuns(world)
    const start = (label: string) => world.startWorker({ label, entry: './limited-main.js' })
    await Promise.all(LABELS.map(start))
    await using vain = watchVain(world, PLACES)
    for (let round = 0; round < rounds[options.scale]; round++) {
      await enqueue(world, round)
      await kill(world, world.worker('shots-victim'))
      await freezeRunning(world, world.worker('pages-victim'))
      await start('shots-victim')
      await freezeClaiming(world)
      options.note(`round ${round + 1} done`)
    }
    await drain(world, 60_000, 8_000)
    const longestVainMs = await vain.stop()
    const most = await mostAtOnce(world)
    findings.atMost('jobs that held a place at once', most.claims, PLACES)
    findings.atMost('handlers at once whose run was theirs', most.valid, PLACES)
    findings.equal('the limit was reached', most.claims >= PLACES ? 'yes' : 'no', 'yes')
    findings.atMost('a place is free in vain, at the longest', longestVainMs, VAIN_MS, ' ms')
    findings.figures({ 'handlers at once, zombies included': most.handlers, 'longest in vain ms': longestVainMs })
    await checkHistory(world, findings)
  },
})

async function enqueue(world: World, round: number): Promise<void> {
  const record = recorder(world.history.file, 'producer')
  await using millrace = createMillrace({ database: world.url, jobs: Object.values(limitedContracts) })
  for (const type of TYPES) {
    const tasks = tasksOf(`${type}/${round}`, TASKS, () => ({ does: 'ignore', ms: WORK_MS }))
    const answers = await millrace.enqueueMany(limitedContracts[type], tasks)
    answers.forEach(({ id }, i) => {
      record({ what: 'acknowledged', n: tasks[i]?.n ?? '', id })
    })
  }
}

/** Resolves as soon as it runs something more. */
async function untilRunning(world: World, { label }: Child): Promise<void> {
  const fromMs = Date.now()
  const runs = () => world.history.runs('started').some(({ who, at }) => who === label && at >= fromMs)
  await world.history.until(`${label} runs something`, 20_000, runs)
}

async function kill(world: World, victim: Child): Promise<void> {
  await untilRunning(world, victim)
  await victim.kill()
}

/** Long enough for its runs to be taken away; then it goes on with them. */
async function freezeRunning(world: World, victim: Child): Promise<void> {
  await untilRunning(world, victim)
  victim.signal('SIGSTOP')
  await sleep(2 * LEASE.ttl)
  victim.signal('SIGCONT')
}

/**
 * Whoever claims next has the locks and is kept waiting for a table it reads. It is frozen there, and the table is given
 * free: from then on the locks belong to a process that does nothing.
 */
async function freezeClaiming(world: World): Promise<void> {
  const door = await world.db.connect()
  let claiming: Child
  try {
    await door.query('begin')
    await door.query('lock table millrace.limit_rate in access exclusive mode')
    claiming = await until('somebody is claiming', 20_000, async () => {
      const [row] = await world.query<{ label: string }>(
        `select application_name as label from pg_stat_activity
         where wait_event_type = 'Lock' and datname = current_database() and application_name = any($1)
           and query like '%millrace.rules_version%'`,
        [LABELS],
      )
      return row && world.worker(row.label)
    })
    claiming.signal('SIGSTOP')
  } finally {
    await door.query('commit')
    door.release()
  }
  await sleep(FROZEN_MS)
  claiming.signal('SIGCONT')
}

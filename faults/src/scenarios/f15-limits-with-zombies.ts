// F15: jobs with limit and order keys, while workers are frozen beyond their lease, thawed, and killed, and while clients
// die between their enqueue and the admission. A limit is exact by leases: a job has one place, whoever runs it.
import { setTimeout as sleep } from 'node:timers/promises'
import { checkHistory, drain } from '../harness/checker.ts'
import { recorder } from '../harness/history.ts'
import { mostAtOnce, watchPlaces } from '../harness/places.ts'
import type { Producer } from '../harness/producer.ts'
import { PLACES, type Task } from '../harness/tasks.ts'
import { LEASE, World } from '../harness/world.ts'
import { defineScenario, type Findings, type Scale } from '../scenario.ts'

const rounds: Record<Scale, number> = { short: 1, standard: 4, full: 20 }
const LIMIT_KEYS = ['alpha', 'beta', 'gamma']
const ORDER_KEYS = ['one', 'two']
const PER_ROUND = { limited: 40, ordered: 20 }
const WORK_MS = 80
/** The sweep comes every second, when somebody has seen that there is something blocked. */
const VAIN_MS = 3_000

export default defineScenario({
  name: 'f15-limits-with-zombies',
  title: 'limit and order keys under frozen and killed workers',
  mutations: {
    'places-uncounted': 'limited jobs of a key at once, by the history',
    'order-unheeded': 'ordered jobs of a key at once, by the history',
    'no-sweep': 'a place is free in vain, at the longest',
  },

  async body(options, findings) {
    await using world = await World.open(options)
    const producer = world.startProducer('producer')
    for (const label of ['zombie', 'victim', 'heir-1', 'heir-2']) await world.startWorker({ label })
    const watch = watchPlaces(world)
    for (let round = 0; round < rounds[options.scale]; round++) {
      await strike(world, producer, round)
      options.note(`round ${round + 1} done`)
    }
    await drain(world, 60_000, 8_000)
    report(world, findings, await watch.stop())
    await checkHistory(world, findings)
  },
})

async function strike(world: World, producer: Producer, round: number): Promise<void> {
  await enqueue(producer, round)
  const { history } = world
  const ranBy = (label: string) => history.runs('started').some(({ who }) => who === label)
  await history.until('both run something', 20_000, () => ranBy(`zombie`) && ranBy('victim'))
  const zombie = world.worker('zombie')
  zombie.signal('SIGSTOP')
  await abandon(world, round)
  await world.worker('victim').kill()
  await sleep(2 * LEASE.ttl)
  zombie.signal('SIGCONT')
  await world.startWorker({ label: 'victim' })
}

/** Alone, in lists, and in transactions. */
async function enqueue(producer: Producer, round: number): Promise<void> {
  const tasks = (kind: 'limited' | 'ordered', key: string): Task[] =>
    Array.from({ length: PER_ROUND[kind] }, (_, i) => ({
      n: `${kind}/${key}/${round}-${i}`,
      key,
      does: i % 7 === 3 ? 'stumble' : 'heed',
      ms: WORK_MS,
    }))
  const [first = '', ...others] = LIMIT_KEYS
  await Promise.all([
    producer.each(tasks('limited', first), { type: 'limited' }),
    ...others.map((key) => producer.order({ how: 'many', tasks: tasks('limited', key), type: 'limited' })),
    ...ORDER_KEYS.map((key) => producer.order({ how: 'commit', tasks: tasks('ordered', key), type: 'ordered' })),
  ])
}

/** What a client leaves behind that dies between its commit and the admission. */
async function abandon(world: World, round: number): Promise<void> {
  const record = recorder(world.history.file, 'abandoner')
  for (let i = 0; i <= PLACES; i++) {
    const n = `limited/abandoned/${round}-${i}`
    const [job] = await world.query<{ id: string }>(
      `insert into millrace.job (type, queue, priority, run_at, max_attempts, payload, created_at, updated_at, status, limit_key, limit_concurrency)
       values ('limited', 'work', 5, now(), 50, $1, now(), now(), 'blocked', 'abandoned', $2) returning id`,
      [JSON.stringify({ n, key: 'abandoned', does: 'heed', ms: WORK_MS }), PLACES],
    )
    record({ what: 'acknowledged', n, id: job?.id ?? '' })
  }
}

function report(
  world: World,
  findings: Findings,
  watched: { excess: number; longestVainMs: number; looks: number },
): void {
  const facts = world.history.read()
  const keyOf = (kind: string) => (n: string) => (n.startsWith(`${kind}/`) ? n.split('/')[1] : undefined)
  const most = (kind: string) => Math.max(...mostAtOnce(facts, keyOf(kind)).values())
  findings.equal('limited jobs of a key at once, by the history', most('limited'), PLACES)
  findings.equal('ordered jobs of a key at once, by the history', most('ordered'), 1)
  findings.equal('admitted beyond the limit, by the table', watched.excess, 0)
  findings.atMost('a place is free in vain, at the longest', watched.longestVainMs, VAIN_MS, ' ms')
  findings.equal('ordered jobs that ended out of order', outOfOrder(world), 0)
  findings.figure('looks at the table', watched.looks)
}

/**
 * Within a list that one transaction has written, jobs end as they stand in it. Only the first end of a job counts: the handler
 * of a worker that was frozen ends later, too, but its run was taken away and the job has run again since.
 */
function outOfOrder(world: World): number {
  let count = 0
  const last = new Map<string, number>()
  const ended = new Set<string>()
  for (const { n } of world.history.runs('ended').filter((fact) => fact.n.startsWith('ordered/'))) {
    if (ended.has(n)) continue
    ended.add(n)
    const [, key, place] = n.split('/') as [string, string, string]
    const [round, i] = place.split('-').map(Number) as [number, number]
    const position = round * PER_ROUND.ordered + i
    if (position < (last.get(key) ?? -1)) count++
    last.set(key, position)
  }
  return count
}

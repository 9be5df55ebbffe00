// F8: what can happen to wake-ups. The connection that listens is cut off without a word; one job wakes every worker;
// 32 writers notify at once while a listener does not read. Work goes on, and nobody storms the database for it.
import { setTimeout as sleep } from 'node:timers/promises'
import { createMillrace } from 'millrace'
import { checkHistory, drain } from '../harness/checker.ts'
import { textsUnder } from '../harness/mutations.ts'
import { percentile } from '../harness/percentile.ts'
import type { Producer } from '../harness/producer.ts'
import { allContracts, task } from '../harness/tasks.ts'
import { until } from '../harness/until.ts'
import { World } from '../harness/world.ts'
import { defineScenario, type Findings, type Scale, type ScenarioOptions } from '../scenario.ts'

const sizes: Record<Scale, Size> = {
  short: { wakes: 15, rounds: 3, roundMs: 700 },
  standard: { wakes: 50, rounds: 5, roundMs: 1_500 },
  full: { wakes: 200, rounds: 5, roundMs: 5_000 },
}
interface Size {
  wakes: number
  rounds: number
  roundMs: number
}

/** A heartbeat that falls into the proof of LISTEN spoils it, and the next one is a minute away: few of them. */
const LEASE = { heartbeat: 1_500, ttl: 6_000, sweep: 500 }
const CALM_LEASE = { heartbeat: 5_000, ttl: 20_000, sweep: 5_000 }
/** The defaults: what a statement may take is 5 s then. */
const FULL_LEASE = { heartbeat: 10_000, ttl: 45_000, sweep: 15_000 }
const SLACK_MS = 1_000
const WORKERS = 3
const WRITERS = 32
const FETCHES_PER_WAKE = 2
const THROUGHPUT_PERCENT = 90

export default defineScenario({
  name: 'f08-wake-ups',
  title: 'LISTEN cut off in silence, one job that wakes all, 32 writers beside a listener that does not read',
  mutations: {
    'notify-says-nothing': 'half-open: wake-ups are trusted before and after',
    'always-due-soon': 'stampede: fetches per wake and worker',
  },

  async body(options, findings) {
    const { mutation } = options
    if (mutation !== 'always-due-soon') await halfOpen(options, findings.of('half-open'))
    if (mutation !== 'notify-says-nothing') await stampede(options, findings.of('stampede'))
    if (mutation === undefined) await writers(options, findings.of('writers'))
  },
})

async function halfOpen(options: ScenarioOptions, findings: Findings): Promise<void> {
  await using world = await World.open(options)
  const lease = options.scale === 'full' ? FULL_LEASE : LEASE
  const withinMs = lease.heartbeat + Math.min(5_000, lease.ttl / 3)
  const proxy = await world.proxy()
  const producer = world.startProducer('producer')
  await world.startWorker({ label: 'worker', lease, proxy })
  const trusted = (since: number, why: string, patienceMs: number) =>
    world.history.eventually(
      patienceMs,
      (fact) => fact.what === 'event' && fact.event === 'listen_trusted' && fact.why === why && fact.at >= since,
    )
  const isTrusted = (await trusted(0, 'true', 5_000)) !== undefined
  const silentAt = Date.now()
  proxy.silenceListeners()
  const isLoaded = enqueueOneByOne(producer, 'meanwhile', { count: 10, everyMs: withinMs / 20 })
  const noticed = isTrusted ? await trusted(silentAt, 'false', withinMs + 10_000) : undefined
  const isTrustedAgain = noticed !== undefined && (await trusted(noticed.at, 'true', 10_000)) !== undefined
  findings.check('wake-ups are trusted before and after', isTrusted && isTrustedAgain)
  findings.atMost('noticed', (noticed?.at ?? Number.POSITIVE_INFINITY) - silentAt, withinMs + SLACK_MS, ' ms')
  await isLoaded
  findings.check('drains', await drain(world, 30_000))
  findings.atMost('longest wait meanwhile', Math.max(...waitsOf(world)), withinMs + SLACK_MS, ' ms')
  findings.equal('leases lost', world.history.events('lease_lost').length, 0)
  await checkHistory(world, findings)
}

async function stampede(options: ScenarioOptions, findings: Findings): Promise<void> {
  await using world = await World.open(options)
  const { wakes } = sizes[options.scale]
  const { jobClaim, jobClaimTypes } = textsUnder(options.mutation)
  const producer = world.startProducer('producer')
  const proxies = await Promise.all(Array.from({ length: WORKERS }, () => world.proxy()))
  await Promise.all(proxies.map((proxy, i) => world.startWorker({ label: `worker-${i}`, lease: CALM_LEASE, proxy })))
  await until('all of them listen', 10_000, () => world.history.events('listen_trusted').length >= WORKERS)
  await enqueueOneByOne(producer, 'first', { count: 1, everyMs: 500 })
  for (const proxy of proxies) proxy.asked = []
  await enqueueOneByOne(producer, 'wake', { count: wakes, everyMs: 100 })
  const isClaim = (sql: string) => sql === jobClaim || sql === jobClaimTypes
  const fetches = proxies.map((proxy) => (proxy.asked?.filter(isClaim).length ?? 0) / wakes)
  findings.atMost('fetches per wake and worker', Math.max(...fetches), FETCHES_PER_WAKE)
  findings.check('drains', await drain(world, 30_000))
  findings.figure('wait p50 ms', percentile(waitsOf(world), 0.5))
  await checkHistory(world, findings)
}

/** Writers in a few clients, as web processes have them; by turns with and without notifications. */
async function writers(options: ScenarioOptions, findings: Findings): Promise<void> {
  await using world = await World.open(options)
  const { rounds, roundMs } = sizes[options.scale]
  const frozen = await world.startWorker({ label: 'frozen', lease: CALM_LEASE })
  await until('it listens', 10_000, () => world.history.events('listen_trusted').length > 0)
  frozen.signal('SIGSTOP')
  const rates = { notifying: [0], silent: [0] }
  for (let round = 0; round < rounds; round++) {
    rates.notifying.push(await writeFor(world, roundMs, true))
    rates.silent.push(await writeFor(world, roundMs, false))
    await world.query('truncate millrace.job')
  }
  const [notifying, silent] = [Math.max(...rates.notifying), Math.max(...rates.silent)]
  const percent = Math.round((100 * notifying) / silent)
  // Rounds of less than a second say little: the short form only shows it.
  if (options.scale !== 'short') {
    const detail = `${percent} % of at least ${THROUGHPUT_PERCENT} %`
    findings.check('throughput beside the one without notifications', percent >= THROUGHPUT_PERCENT, detail)
  }
  findings.figures({ 'enqueues per second': notifying, 'without notifications': silent, percent })
}

async function writeFor(world: World, ms: number, notify: boolean): Promise<number> {
  const clients = Array.from({ length: 4 }, () => createMillrace({ database: world.url, jobs: allContracts, notify }))
  let written = 0
  const end = performance.now() + ms
  const write = async (i: number) => {
    while (performance.now() < end) {
      await clients[i % clients.length]?.enqueue(task, { n: `writer-${i}-${written}`, does: 'plain' })
      written++
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, (_, i) => write(i)))
  await Promise.all(clients.map((client) => client.close()))
  return (written * 1_000) / ms
}

/** The pause is what is measured here: each of them has to wake somebody anew. */
async function enqueueOneByOne(
  producer: Producer,
  prefix: string,
  { count, everyMs }: { count: number; everyMs: number },
): Promise<void> {
  for (let i = 0; i < count; i++) {
    await Promise.all([producer.each([{ n: `${prefix}-${i}`, does: 'plain' }]), sleep(everyMs)])
  }
}

/** From the answer to the enqueue until the start. */
function waitsOf({ history }: World): number[] {
  const enqueued = new Map(history.enqueues('acknowledged').map(({ n, at }) => [n, at]))
  return history.runs('started').map(({ n, at }) => at - (enqueued.get(n) ?? at))
}
